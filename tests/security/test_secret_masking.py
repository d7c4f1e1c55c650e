"""Secrets are found and masked, one character for one; ordinary code is left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dowse
from dowse.security import secret_masking as secrets_mask
from dowse.security.secret_masking import find_secrets, mask_counted, mask_lines, mask_span, mask_text
from dowse.security.secret_patterns import compile_prefilter
from dowse.types import LineMatch
from secret_samples import ALNUM, HEX, password, private_key, text, tokens

PLACES = (
    'token = "{}"',
    "{}",
    "export X={}",
    "curl -H 'Authorization: {}'",
    '{{"a": "{}"}}',
    "a,{},b",
    "x\\n{}\\n",
)


@pytest.mark.parametrize("provider", tokens())
def test_tokens_of_providers_are_masked_behind_their_prefix(provider):
    for seed in range(1, 6):
        prefix, body = tokens(seed)[provider]
        for place in PLACES:
            line = place.format(prefix + body)
            masked, count = mask_counted(line)
            start = line.index(prefix + body)
            shown = masked[start : start + len(prefix + body)]
            assert shown.endswith("*" * len(body))
            assert prefix.startswith(shown.rstrip("*"))
            assert len(masked) == len(line)
            assert count == 1


@pytest.mark.parametrize(
    "line",
    [
        'password = "{}"',
        "password: {}",
        "DB_PASSWORD={}",
        "export API_KEY='{}'",
        '"api_key": "{}",',
        "const apiKey: string = '{}';",
        'String clientSecret = "{}";',
        "token := `{}`",
        '"access_token" => "{}"',
        'setPassword("{}")',
        "def connect(host, password='{}'):",
        "Authorization: Bearer {}xyz7",
        "aws_secret_access_key = {}",
        "postgres://app:{}@db.internal:5432/app",
        'os.environ["SECRET_KEY"] = "{}"',
        "passphrase='{}'  # für später",
    ],
)
def test_random_values_of_names_that_say_so_are_masked(line):
    for seed in range(1, 10):
        secret = password(seed)
        shown = mask_text(line.format(secret))
        assert secret not in shown
        assert "*" * len(secret) in shown


@pytest.mark.parametrize(
    "line",
    [
        'password = "changeme"',
        'password = os.environ["DB_PASSWORD_2024_V1"]',
        "password: ${DB_PASSWORD_1}",
        'api_key = "<your-api-key-1234>"',
        'token = "xxxxxxxxxxxxxxxxxxxx1"',
        'secret = "{{ .Values.secret1 }}"',
        "token = self.tokens[index2]",
        "key: Uint8Array",
        "privateKey: Uint8Array, publicKey: Float32Array",
        'auth_version = "v1beta1"',
        'token_url = "https://example.com/oauth2/token"',
        'tokenizer = "cl100k_base_v2"',
        "password = hunter2",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "postgres://user:password@localhost/db",
        "https://example.com:8080/@scope/package",
        "git+ssh://git@github.com:22/x",
        'HEAD = "-----BEGIN '
        + 'PRIVATE KEY-----"\nTAIL = "-----END '
        + 'PRIVATE KEY-----"\nreturn HEAD, TAIL',
        "sha256 = '" + text(HEX, 64) + "'",
        "commit " + text(HEX, 40),
        "SKIPPED_TESTS_IN_2024_ARE_LISTED_HERE = 1",
        "data:image/png;base64," + text(ALNUM, 200),
    ],
)
def test_what_only_looks_like_one_stays(line):
    assert mask_counted(line) == (line, 0)


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("indent", ["", "    ", "# ", "// ", " * "])
def test_private_keys_are_masked_line_by_line(kind, indent):
    key, lines = private_key(kind)
    written = "".join(f"{indent}{line}\n" for line in key.splitlines()) + "\ndef after():\n    return 1\n"
    masked, count = mask_counted(written)
    assert count == 1
    assert [len(line) for line in masked.split("\n")] == [len(line) for line in written.split("\n")]
    assert not any(line in masked for line in lines)
    assert "PRIVATE KEY-----" in masked and masked.endswith("def after():\n    return 1\n")


@pytest.mark.parametrize("glue", ["\\n", '\\n" +\n  "', '",\n"', "\r\n"])
def test_private_keys_in_strings_are_masked(glue):
    key, lines = private_key()
    masked = mask_text('key = "' + glue.join(key.splitlines()) + '"')
    assert not any(line in masked for line in lines)
    assert masked.count("\n") == glue.count("\n") * (len(lines) + 1)


def test_a_part_of_a_file_is_masked_as_the_whole_is():
    key, lines = private_key()
    secret = password()
    data = f"a = 1\n{key}\nconfig(password='{secret}')\n".encode()
    whole = mask_span(data, 0, len(data))[0]
    for start in range(0, len(data), 7):
        for end in range(start, len(data) + 1, 11):
            assert mask_span(data, start, end)[0] == whole[start:end]
    matches = [LineMatch(number, line, ((0, 1),)) for number, line in enumerate(data.decode().split("\n"), 1)]
    shown, count = mask_lines(data, matches)
    assert [match.text for match in shown] == whole.decode().split("\n")
    assert count == len(lines) + 1


def test_an_aws_secret_beside_its_id_is_masked():
    prefix, body = tokens()["aws id"]
    secret = text(ALNUM + "/+", 40, 3)
    assert mask_text(f"{prefix}{body},{secret}\n") == f"{prefix}{'*' * 16},{'*' * 40}\n"
    assert mask_text(f"{secret}\n") == f"{secret}\n"


PIECES = st.sampled_from(
    [prefix + body for prefix, body in tokens().values()]
    + [
        f'password = "{password()}"',
        private_key()[0],
        f"x://u:{password()}@h",
        "\n",
        " ",
        "é",
        "key=",
        "'",
        '"',
        "*",
        "eyJ",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=12), max_size=12).map("".join)


@settings(max_examples=150)
@given(TEXTS)
def test_masking_keeps_length_and_lines_and_is_idempotent(written):
    masked = mask_text(written)
    assert len(masked) == len(written)
    assert [at for at, c in enumerate(masked) if c == "\n"] == [
        at for at, c in enumerate(written) if c == "\n"
    ]
    assert all(new in (old, "*") for old, new in zip(written, masked, strict=True))
    assert mask_text(masked) == masked


@settings(max_examples=150)
@given(TEXTS)
def test_the_quick_look_overlooks_nothing(written):
    data = written.encode("utf-8", "surrogatepass")
    look, known = (
        compile_prefilter(secrets_mask.SECRET_WORDS),
        secrets_mask.private_keys(data).between(0, len(data)),
    )
    closely = _closely(data)
    assert look(data) is not None or closely == known


def _closely(data: bytes) -> list[list[tuple[int, int]]]:
    """Return the secrets of a text without asking the quick look."""
    before = secrets_mask.prefilter
    secrets_mask.prefilter = lambda _: True
    try:
        return find_secrets(data, 0, len(data))
    finally:
        secrets_mask.prefilter = before


def test_our_own_sources_hold_none():
    root = Path(dowse.__file__).parent
    found = {str(path): mask_counted(path.read_text())[1] for path in root.rglob("*.py")}
    assert len(found) > 400
    assert not {path: count for path, count in found.items() if count}


GROWING = """
import sys
from dowse.security.secret_masking import mask_span
for shape in sys.stdin.read().split("|"):
    data = (shape * (300_000 // len(shape.encode()))).encode()
    mask_span(data, 0, len(data))
    data = b"-----BEGIN PRIVATE KEY-----" + data
    for start in range(0, len(data), 2_000):  # as symbols ask
        mask_span(data, start, start + 2_000)
"""
PEM = "-----BEGIN PRIVATE KEY-----"
SHAPES = [
    *("SK", "eyJ", "eyJ.", "-eyJ", "token=", 'token="', "key: ", "AKIA", "://a:", "://a:b@", "a.", "((("),
    *(PEM, PEM + "\n" + "A" * 64 + "\n", "A" * 64 + "\n", "\\n", "bearer ", "pass", ":AA", "x=1 ", "é", "0"),
    *("M" + "a" * 25 + ".", "sk-" + "a1" * 20 + " ", "token: str = ", "\n", "Q~"),
    "AKIA" + "B" * 16 + "dop_v1_" + "0" * 64,
]


def test_long_texts_of_any_shape_take_linear_time():
    # Quadratic time would take hours; in all, this takes seconds.
    subprocess.run(
        [sys.executable, "-c", GROWING], check=True, timeout=240, input="|".join(SHAPES), text=True
    )
