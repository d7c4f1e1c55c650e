"""Certificates and users of a test cluster with security: what an administrator would put into `config`."""

from __future__ import annotations

import hashlib
import secrets
import ssl
from base64 import b64encode
from pathlib import Path

import trustme

ADMIN = "admin"
CA, CERTIFICATE, KEY, PASSWORD = "ca.pem", "node.pem", "node.key", "password"


def write_security(folder: Path) -> None:
    """Write a certificate authority, a certificate for 127.0.0.1 and a password of the superuser."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / CA)
    node = authority.issue_cert("127.0.0.1")
    node.private_key_pem.write_to_path(folder / KEY)
    # The authority's certificate comes along, as from Elasticsearch's own set-up: its fingerprint is checked.
    chain = node.cert_chain_pems[0].bytes() + authority.cert_pem.bytes()
    (folder / CERTIFICATE).write_bytes(chain)
    (folder / PASSWORD).write_text(secrets.token_hex(12))


def configure_security(folder: Path, config: Path) -> str:
    """Copy them to the `config` of a node; return the lines of its settings."""
    for name in (CA, CERTIFICATE, KEY):
        (config / name).write_bytes((folder / name).read_bytes())
    (config / "users").write_text(f"{ADMIN}:{_salted_hash((folder / PASSWORD).read_text())}\n")
    (config / "users_roles").write_text(f"superuser:{ADMIN}\n")
    lines = ["xpack.security.enabled: true", "xpack.security.enrollment.enabled: false"]
    for layer in ("http", "transport"):
        lines += [
            f"xpack.security.{layer}.ssl.{name}"
            for name in (
                *("enabled: true", f"key: {KEY}", f"certificate: {CERTIFICATE}"),
                f'certificate_authorities: ["{CA}"]',
            )
        ]
    return "\n".join([*lines, "xpack.security.transport.ssl.verification_mode: certificate", ""])


def trusting(folder: Path) -> ssl.SSLContext:
    """Return what trusts the authority."""
    return ssl.create_default_context(cafile=str(folder / CA))


def basic(user: str, password: str) -> str:
    """Return the header of HTTP's basic authentication."""
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def _salted_hash(password: str) -> str:
    """Return a password as the server's file of users has it, with few iterations."""
    salt, iterations = secrets.token_bytes(32), 1000
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, iterations, 32)
    return f"{{PBKDF2}}{iterations}${b64encode(salt).decode()}${b64encode(digest).decode()}"
