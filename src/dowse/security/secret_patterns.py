"""Secret scanning: provider tokens, private keys, passwords in URLs, high-entropy values of secret names.

Every function takes bytes and returns the spans to mask. All run in linear time: repetitions are bounded or
nothing follows them, and no match can start inside what a previous attempt has consumed.

The formats are those that the providers document for secret scanning.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

Span = tuple[int, int]

_ALNUM, _URL_SAFE, _HEX, _BASE64 = rb"[A-Za-z0-9]", rb"[A-Za-z0-9_-]", rb"[a-f0-9]", rb"[A-Za-z0-9+/]"


def _shared_body(prefixes: bytes, body: bytes) -> dict[bytes, bytes]:
    """Return the same body for several prefixes."""
    return dict.fromkeys(prefixes.split(), body)


# The prefix of a token, which stays, and the pattern of its body, which is masked.
_TOKENS: dict[bytes, bytes] = {
    # AWS
    **_shared_body(b"AKIA ASIA ABIA ACCA", rb"[A-Z2-7]{16}(?![A-Za-z0-9])"),
    # GitHub, GitLab, Bitbucket and Atlassian, Docker
    **_shared_body(b"ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM + rb"{36,255}"),
    b"github_pat_": rb"[A-Za-z0-9_]{60,255}",
    **_shared_body(
        b"glpat- gldt- glrt- glcbt- glptt- gloas- glsoat- glft- glimt- glagent-", rb"[A-Za-z0-9_.-]{20,300}"
    ),
    **_shared_body(b"ATATT3 ATCTT3 ATBB", rb"[A-Za-z0-9_=-]{24,300}"),
    b"dckr_pat_": _URL_SAFE + rb"{27,64}",
    # Slack, Discord, Telegram
    **_shared_body(b"xoxb- xoxa- xoxp- xoxr- xoxs- xoxo- xoxe- xoxe.xoxp- xapp-", rb"[A-Za-z0-9-]{16,300}"),
    b"hooks.slack.com/services/": rb"[A-Za-z0-9/]{30,100}",
    **_shared_body(
        b"discord.com/api/webhooks/ discordapp.com/api/webhooks/", rb"[0-9]{15,22}/[A-Za-z0-9_-]{40,120}"
    ),
    b":AA": _URL_SAFE + rb"{33}(?![A-Za-z0-9_-])",
    # Payment and shops
    **_shared_body(b"sk_live_ rk_live_ sk_test_ rk_test_", _ALNUM + rb"{16,255}"),
    b"whsec_": rb"[A-Za-z0-9+/=]{24,100}",
    **_shared_body(b"shpat_ shpca_ shppa_ shpss_", rb"[a-fA-F0-9]{32}"),
    **_shared_body(b"sq0atp- sq0csp-", _URL_SAFE + rb"{22,60}"),
    # Google, Azure, DigitalOcean, Heroku, Alibaba, Databricks, Fly, Netlify, Supabase
    b"AIza": _URL_SAFE + rb"{35}(?![A-Za-z0-9_-])",
    b"ya29.": _URL_SAFE + rb"{24,500}",
    b"GOCSPX-": _URL_SAFE + rb"{28}",
    **_shared_body(b"AccountKey= SharedAccessKey=", _BASE64 + rb"{40,100}={0,2}"),
    b"Q~": rb"[A-Za-z0-9_.~-]{31,34}(?![A-Za-z0-9_.~-])",
    **_shared_body(b"dop_v1_ doo_v1_ dor_v1_", _HEX + rb"{64}"),
    b"HRKU-": _URL_SAFE + rb"{36,80}",
    b"LTAI": _ALNUM + rb"{16,20}(?![A-Za-z0-9])",
    b"dapi": _HEX + rb"{32}(?:-[0-9])?(?![A-Za-z0-9])",
    **_shared_body(b"fo1_ nfp_", _URL_SAFE + rb"{36,80}"),
    b"sbp_": _HEX + rb"{40}",
    # Models
    **_shared_body(b"sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1-", _URL_SAFE + rb"{32,300}"),
    b"sk-": _ALNUM + rb"{32,64}(?![A-Za-z0-9_-])",
    **_shared_body(b"hf_ gsk_ r8_ xai- pplx-", _ALNUM + rb"{30,100}(?![A-Za-z0-9_-])"),
    b"nvapi-": _URL_SAFE + rb"{60,80}",
    # Package registries
    b"npm_": _ALNUM + rb"{36}(?![A-Za-z0-9])",
    b"pypi-": rb"Ag[A-Za-z0-9_-]{50,500}",
    b"rubygems_": _HEX + rb"{48}",
    b"oy2": rb"[a-z0-9]{43}(?![A-Za-z0-9])",
    b"cio": _ALNUM + rb"{32}(?![A-Za-z0-9])",
    b"CLOJARS_": _ALNUM + rb"{60}",
    # Mail and telephony
    b"SG.": _URL_SAFE + rb"{16,32}\.[A-Za-z0-9_-]{32,64}",
    b"SK": _HEX + rb"{32}(?![A-Za-z0-9])",
    b"key-": _HEX + rb"{32}(?![A-Za-z0-9])",
    b"xkeysib-": _HEX + rb"{64}-[A-Za-z0-9]{16}",
    # Operations
    **_shared_body(b"hvs. hvb. hvr.", _URL_SAFE + rb"{20,300}"),
    b".atlasv1.": _URL_SAFE + rb"{60,80}",
    b"AGE-SECRET-KEY-1": rb"[A-Z0-9]{58}",
    b"NRAK-": rb"[A-Z0-9]{27}",
    b"PMAK-": _HEX + rb"{24}-[a-f0-9]{34}",
    b"glsa_": _ALNUM + rb"{32}_[A-Fa-f0-9]{8}",
    b"pul-": _HEX + rb"{40}",
    b"dp.pt.": _ALNUM + rb"{40,44}",
    b"dt0c01.": rb"[A-Z0-9]{24}\.[A-Z0-9]{64}",
    b"sntrys_": rb"[A-Za-z0-9_+/=-]{60,500}",
    b"tskey-": _URL_SAFE + rb"{24,100}",
    **_shared_body(b"lin_api_ ntn_ figd_ bkua_ CFPAT-", _URL_SAFE + rb"{40,64}"),
    # JSON Web Tokens
    b"eyJ": rb"[A-Za-z0-9_-]{8,8000}\.eyJ[A-Za-z0-9_-]{8,8000}(?:\.[A-Za-z0-9_-]{0,4000})?",
}
_PREFIXES_BY_LENGTH = sorted(_TOKENS, key=len, reverse=True)
# What must precede some prefixes; all others follow anything but a letter or digit.
_LOOK_BEHIND = {
    b":AA": rb"[0-9]{8,10}",
    b"Q~": rb"[A-Za-z0-9_.~-]{3}[0-9]",
    b".atlasv1.": rb"[A-Za-z0-9]{14}",
}
_LOOK_BEHIND_BYTES = 14
_DISCORD = (
    rb"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))[MNO][A-Za-z0-9_-]{23,27}"
    rb"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_-])"
)
_AWS_SECRET = rb"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])"
_AWS_ID = rb"A[KS]IA[A-Z2-7]{16}"
_AWS_LINE_BYTES = 200
# A body with fewer distinct characters is a placeholder: ghp_xxxxxxxx.
_MIN_DISTINCT_CHARACTERS = 6


def find_tokens(lines: bytes, start: int, end: int) -> list[Span]:
    """Return the tokens of known providers in a run without spaces, from left to right."""
    run = lines[start:end]
    spans: list[Span] = []
    passed = -1
    for at, prefix in sorted(_prefixes(run)):
        at += start
        # What begins where another token ends is one too: once that is masked, it stands alone.
        if at < passed or not (at == passed or _may_begin(lines, at, prefix)):
            continue
        body = _compiled(_TOKENS[prefix]).match(lines, at + len(prefix), end)
        if (
            body is not None
            and len(set(body[0])) >= _MIN_DISTINCT_CHARACTERS
            and not body[0].endswith(b"EXAMPLE")
        ):
            spans.append(body.span())
            passed = body.end()
    if run.count(b".") > 1:
        spans += (match.span() for match in _compiled(_DISCORD).finditer(lines, start, end))
    # Secret keys of AWS have no prefix; after a key id in the same line, they need none.
    low = max(lines.rfind(b"\n", max(0, start - _AWS_LINE_BYTES), start) + 1, start - _AWS_LINE_BYTES, 0)
    if _compiled(_AWS_ID).search(lines, low, end):
        secrets = _compiled(_AWS_SECRET).finditer(lines, start, end)
        spans += (match.span() for match in secrets if is_random(match[0]))
    return spans


def _prefixes(run: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield every position of a prefix in a run; where several match, the longest."""
    taken: set[int] = set()
    for prefix in _PREFIXES_BY_LENGTH:
        at = run.find(prefix)
        while at >= 0:
            if at not in taken:
                taken.add(at)
                yield at, prefix
            at = run.find(prefix, at + 1)


def _may_begin(lines: bytes, at: int, prefix: bytes) -> bool:
    """Whether a token can begin here: not inside of a word, except after an escaped line break."""
    before = lines[max(0, at - _LOOK_BEHIND_BYTES) : at]
    if prefix in _LOOK_BEHIND:
        return _compiled(_LOOK_BEHIND[prefix] + rb"\Z").search(before) is not None
    if not before[-1:].isalnum():
        # A part of a JSON Web Token may begin like one: only its own start counts, or time is quadratic.
        return prefix != b"eyJ" or before[-1:] not in (b"_", b"-")
    return before[-2:-1] == b"\\" and before[-1:] in b"nrt"


# What follows a word such as "password" in an assignment: the rest of the name, perhaps a type, an operator;
# then the value in quotes, or bare as in configuration files and shells.
_OPERATOR = (
    rb"[\w.-]{0,24}[\"'`\])]{0,3}[ \t]{0,16}(?::[ \t]{0,2}[\w\[\]|.&*]{1,24}[ \t]{0,4})?"
    rb"(?:=>|:=|==|->|[=:,(>])[ \t]{0,4}"
)
_ASSIGNED = _OPERATOR + (
    rb"(?:[\"'`]([^\"'`\s\\]{8,256})[\"'`]"
    rb"|([^\s\"'`,;(){}\[\]<>\\$&|=:?]{10,256}={0,2})(?=[\s,;\"'`<]|$))"
)
# Some words are the name of a secret only after these, or not before these.
_KEY_BEFORE = (
    rb"(?i:api|access|private|secret|encrypt(?:ion)?|sign(?:ing)?|auth|account|master|service|client|app|admin"
    rb"|storage|license|deploy|session|jwt|hmac|crypt|shared|subscription|webhook|server|user)[_.-]?\Z"
)
_BEFORE = {b"key": _KEY_BEFORE}
_NOT_BEFORE = {
    b"token": rb"(?i:i[sz])",
    b"auth": rb"(?i:ors?\b|ored|enticity)",
    b"pass": rb"(?i:e[ds]|ing|enger|ive)",
}
_AUTHORIZATION = rb"[ \t]{1,4}([A-Za-z0-9_.~+/-]{20,2000}={0,2})"
_PLACEHOLDERS = (
    rb"(?i:example|change|placeholder|your|dummy|sample|redacted|fake|mock|insert|replace|todo|test|password"
    rb"|secret|token|default|none|null|undefined|foo|bar|abc|123456|deadbeef|qwerty|lorem|encoding|utf-?8"
    rb"|application|sha(?:1|256|384|512)|aes|rsa|hs256|rs256|es256|md5|oauth2?|base64|\.\.\.|\*\*|xxx|___)"
)
_CODE = (
    rb"[(){}<>\[\]$]|://|^[/.~@#%]|%[sdr(]|::"
    rb"|\.(?:py|js|ts|go|rs|json|ya?ml|txt|com|org|io|net|html?|pem|key)\b"
)
# Words and numbers, joined by punctuation: identifiers, routes, versions, dates.
_WORD = rb"(?:[A-Z]?[a-z]+[0-9]{0,4}|[A-Z]+[0-9]{0,4}|[0-9]+)"
_WORDY = _WORD + rb"(?:[_./:+-]+" + _WORD + rb")*\Z"
_INNER_WORD = rb"(?<=[a-z])(?=[A-Z])"
# Changes between lower case, upper case, digits and punctuation from one character to the next.
_MIN_CLASS_CHANGES = 3
# Words before the value of an Authorization header.
_SCHEMES = frozenset({b"bearer", b"basic", b"token"})
_CHARACTER_CLASSES = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", b"A" * 26 + b"a" * 26 + b"0" * 10
)


def find_assigned(lines: bytes, word: bytes, start: int) -> Iterator[Span]:
    """Yield a random value that is assigned to the name of a password, token or key.

    Args:
        lines: The text.
        word: The word that makes it such a name, in lower case.
        start: The position of the word.
    """
    end = start + len(word)
    match = _compiled(_ASSIGNED).match(lines, end)
    if match is not None:
        group = 2 if match[1] is None else 1
        looks_random = is_random(match[group]) if group == 1 else _is_random_unquoted(match[group])
        if looks_random and _is_secret_name(lines, word, start, end):
            yield match.span(group)
    elif word in _SCHEMES:
        header = _compiled(_AUTHORIZATION).match(lines, end)
        if header is not None and is_random(header[1]):
            yield header.span(1)


def _is_secret_name(lines: bytes, word: bytes, start: int, end: int) -> bool:
    """Whether a word is the name of a secret with what precedes and follows it."""
    if word in _NOT_BEFORE and _compiled(_NOT_BEFORE[word]).match(lines, end):
        return False
    before = lines[max(0, start - 16) : start]
    return word not in _BEFORE or _compiled(_BEFORE[word]).search(before) is not None


def is_random(value: bytes) -> bool:
    """Whether a value looks random: digits among letters, high entropy, no words, no placeholder."""
    if not value.isascii() or value.isalpha() or not any(48 <= byte < 58 for byte in value):
        return False
    classes = value.translate(_CHARACTER_CLASSES)
    if sum(a != b for a, b in pairwise(classes)) < _MIN_CLASS_CHANGES:
        return False
    if _entropy(value) < (3.0 if len(value) > 11 else 2.75):
        return False
    words = _compiled(_INNER_WORD).sub(b"_", value)
    return not (
        _compiled(_WORDY).match(words)
        or _compiled(_PLACEHOLDERS).search(value)
        or _compiled(_CODE).search(value)
    )


def _is_random_unquoted(value: bytes) -> bool:
    """Whether an unquoted value looks random: names of variables and types have one number at most."""
    numbers = len(re.findall(rb"[0-9]+", value))
    return numbers >= (2 if len(value) < 32 else 3) and is_random(value)


def _entropy(value: bytes) -> float:
    """Return the Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


_URL = rb"://[^\s:/@\"'`<>{}$]{0,64}:([^\s:/@\"'`<>{}$%]{3,128}|[^\s:/@\"'`<>{}$]{3,128})@[A-Za-z0-9\[]"
_URL_PLACEHOLDER = (
    rb"(?i:pass(?:word|wd|phrase)?|pwd?|secret|token|user(?:name)?|example|changeme|xxx+|foo|bar|baz|\*+|\.+|test"
    rb"|guest|postgres|root|admin|repo|my-?pass(?:word)?|your[\w-]*|%\w+|[a-z])\Z"
)


def find_url_passwords(lines: bytes) -> Iterator[Span]:
    """Yield the passwords of URLs such as `postgres://user:password@host`."""
    for match in _compiled(_URL).finditer(lines):
        if not _compiled(_URL_PLACEHOLDER).match(match[1]):
            yield match.span(1)


_KEY_HEAD = rb"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
# Between the lines of a key: line breaks, also escaped; quotes, comment marks, header fields.
_KEY_SEPARATOR = (
    rb"(?:\\[nrt]|[\s\"'`,;>*#|()\\]|\+(?=\s)|//(?=[ \t])"
    rb"|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\n\\]{0,120})*"
)
_KEY_LINE = rb"[A-Za-z0-9+/=]+"
_MIN_LINE_CHARACTERS = 20


def find_private_keys(text: bytes) -> Iterator[list[Span]]:
    """Yield the bodies of private keys in PEM or OpenPGP armor, line by line; the end may be missing."""
    separator, line = _compiled(_KEY_SEPARATOR), _compiled(_KEY_LINE)
    for head in _compiled(_KEY_HEAD).finditer(text):
        body: list[Span] = []
        at = head.end()
        while True:
            between = separator.match(text, at)
            part = line.match(text, between.end() if between else at)
            if part is None:
                break
            if len(part[0]) < _MIN_LINE_CHARACTERS and not (body and _is_last_line(text, part)):
                break
            body.append(part.span())
            at = part.end()
        if body:
            yield body


def _is_last_line(text: bytes, part: re.Match[bytes]) -> bool:
    """Whether a short line is the last of a key: it has padding, or the footer or nothing follows."""
    separator = _compiled(_KEY_SEPARATOR).match(text, part.end())
    end = separator.end() if separator else part.end()
    return part[0].endswith(b"=") or part[0].startswith(b"=") or text[end : end + 4] in (b"----", b"")


def compile_prefilter(words: tuple[bytes, ...]) -> Callable[[bytes], object]:
    """Return a function that scans lines in one pass; its result is None only if there is no secret.

    RE2 scans a gigabyte per second; loading it takes longer than one search needs without it. It has no
    look-around, so its pattern is weaker than those above, and matches wherever one of them does.
    """
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # bytes are bytes
    options.never_capture = True
    prefixes = b"|".join(re.escape(prefix) for prefix in _TOKENS)
    names = b"|".join(re.escape(word.strip()) for word in words)
    pattern = b"|".join(
        (
            rb"(?:" + prefixes + rb")[A-Za-z0-9_.+/=~:%-]{16}",
            rb"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.",
            rb"(?i:"
            + names
            + rb")(?:"
            + _OPERATOR
            + rb"[\"'`]?[^\s\"'`\\]*[0-9]|[ \t]{1,4}[A-Za-z0-9_.~+/-]{20})",
            rb"://[^\s:/@]*:[^\s@]+@",
        )
    )
    search: Callable[[bytes], object] = re2.compile(pattern, options).search
    return search


@functools.cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    """Compile a pattern on first use: most searches need none."""
    return re.compile(pattern, re.MULTILINE)
