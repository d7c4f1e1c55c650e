"""Secrets of every kind, made when tests run, so that no scanner takes this repository for a leak."""

from __future__ import annotations

import base64
import random
import string

ALNUM, HEX, UPPER = (
    string.ascii_letters + string.digits,
    "0123456789abcdef",
    string.ascii_uppercase + "234567",
)


def text(alphabet: str, length: int, seed: int = 1) -> str:
    """Return random characters, the same every time."""
    return "".join(random.Random(f"{alphabet}{length}{seed}").choices(alphabet, k=length))


def tokens(seed: int = 1) -> dict[str, tuple[str, str]]:
    """Return, by provider, what stays of a token and what has to go."""

    def some(alphabet: str, length: int) -> str:
        return text(alphabet, length, seed)

    url = ALNUM + "_-"
    found = {
        "aws id": ("AKIA", some(UPPER, 16)),
        "aws session id": ("ASIA", some(UPPER, 16)),
        "github": ("ghp_", some(ALNUM, 36)),
        "github oauth": ("gho_", some(ALNUM, 36)),
        "github app": ("ghs_", some(ALNUM, 36)),
        "github fine-grained": ("github_pat_", some(ALNUM, 22) + "_" + some(ALNUM, 59)),
        "gitlab": ("glpat-", some(url, 20)),
        "slack bot": ("xoxb-", f"{some('123456789', 12)}-{some('123456789', 12)}-{some(ALNUM, 24)}"),
        "slack hook": (
            "hooks.slack.com/services/",
            f"T{some(UPPER, 8)}/B{some(UPPER, 8)}/{some(ALNUM, 24)}",
        ),
        "stripe": ("sk_live_", some(ALNUM, 24)),
        "stripe restricted": ("rk_live_", some(ALNUM, 24)),
        "google": ("AIza", some(url, 35)),
        "google oauth": ("GOCSPX-", some(url, 28)),
        "openai": ("sk-proj-", some(url, 60)),
        "openai old": ("sk-", some(ALNUM, 48)),
        "anthropic": ("sk-ant-", "api03-" + some(url, 93) + "AA"),
        "huggingface": ("hf_", some(ALNUM, 34)),
        "npm": ("npm_", some(ALNUM, 36)),
        "pypi": ("pypi-", "AgEIcHlwaS5vcmc" + some(url, 70)),
        "sendgrid": ("SG.", f"{some(url, 22)}.{some(url, 43)}"),
        "twilio": ("SK", some(HEX, 32)),
        "mailgun": ("key-", some(HEX, 32)),
        "azure storage": ("AccountKey=", some(ALNUM + "+/", 86) + "=="),
        "azure application": (some(ALNUM, 3) + "8Q~", some(url, 34)),
        "telegram": (some("123456789", 9) + ":AA", some(url, 33)),
        "discord": ("", f"M{some(url, 25)}.{some(url, 6)}.{some(url, 38)}"),
        "heroku": ("HRKU-", "AA" + some(url, 58)),
        "digitalocean": ("dop_v1_", some(HEX, 64)),
        "vault": ("hvs.", some(url, 90)),
        "age": ("AGE-SECRET-KEY-1", some(UPPER, 58)),
        "shopify": ("shpat_", some(HEX, 32)),
        "docker": ("dckr_pat_", some(url, 27)),
        "databricks": ("dapi", some(HEX, 32)),
        "grafana": ("glsa_", f"{some(ALNUM, 32)}_{some(HEX, 8)}"),
        "jwt": ("eyJ", f"{some(url, 30)}.eyJ{some(url, 60)}.{some(url, 43)}"),
    }
    return found


def private_key(kind: str = "RSA ", seed: int = 1) -> tuple[str, list[str]]:
    """Return a private key as PEM, and the lines that have to go."""
    body = base64.b64encode(random.Random(seed).randbytes(430)).decode()
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    head, tail = "-----BEGIN " + f"{kind}PRIVATE KEY-----", "-----END " + f"{kind}PRIVATE KEY-----"
    return "\n".join([head, *lines, tail]) + "\n", lines


def password(seed: int = 1) -> str:
    """Return a password such as a generator makes."""
    return "q7" + text(ALNUM, 14, seed) + "4Zk9"
