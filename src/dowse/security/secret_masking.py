"""Secret masking: likely secrets in stored text are masked when it is shown.

`Reader.symbols` masks by default, so that no output can forget it; lines, names and signatures go through the
functions here. Every character of a secret becomes `*`, so that lines, columns and spans stay valid; a prefix
that names the provider stays.

Ranking, matching and encoding work on the original text, so whoever may search can find out whether a text
occurs. Masking keeps secrets out of terminals, logs, pages and the context of agents; it does not protect an
index from its reader.

Ordinary code costs next to nothing: cheap filters decide whether `secret_patterns.py` is even loaded.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from dowse.types import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dowse.types import LineMatch, SymbolRow

    Span = tuple[int, int]

# The characters of provider tokens, and their minimum length.
_TOKEN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.+/=~:%"
_MIN_TOKEN_BYTES = 20
_TOKEN_BYTES_TO_RUNS = bytes(0x61 if byte in _TOKEN_BYTES else 0x20 for byte in range(256))
_RUN = b"a" * _MIN_TOKEN_BYTES
_NO_DIGITS = bytes(byte for byte in range(256) if byte not in b"0123456789")
# AWS key ids may have no digit; all other tokens are long enough to have one.
_PREFIXES_WITHOUT_DIGITS = (b"AKIA", b"ASIA")
# A value is a secret by its name: one of these words is part of such a name.
SECRET_WORDS = (b"key", b"token", b"secret", b"pass", b"auth", b"pwd", b"credential", b"bearer", b"basic ")
# After so many scanned bytes RE2 is loaded: scanning them takes as long.
_RE2_THRESHOLD_BYTES = 200_000
_scanned_bytes = 0
prefilter: Callable[[bytes], object] | None = None
# How far a line is scanned beyond a span: longer lines hold data.
_MAX_LINE_BYTES = 4_096


def mask_span(text: bytes, start: int, end: int) -> tuple[bytes, int]:
    """Return a part of a file with its secrets masked, and their number.

    The whole lines around it are scanned, and for private keys the whole file: a part may begin inside of a
    secret, or after the name that makes it one.
    """
    secrets = find_secrets(text, start, end)
    part = text[start:end]
    if not secrets:
        return part, 0
    shown, count, done = bytearray(part), 0, start
    for spans in sorted(secrets):
        # Where two patterns find one secret, it counts once.
        count += start < spans[-1][1] and spans[0][0] < end and spans[-1][1] > done
        done = max(done, spans[-1][1])
        for low, high in spans:
            first, last = max(low, start), min(high, end)
            if first < last:
                shown[first - start : last - start] = b"*" * (last - first)
    return bytes(shown), count


def mask_text(text: str) -> str:
    """Return a text with its secrets masked."""
    return mask_counted(text)[0]


def mask_counted(text: str) -> tuple[str, int]:
    """Return a text with its secrets masked, and their number."""
    if len(text) < _MIN_TOKEN_BYTES and "=" not in text and ":" not in text:
        return text, 0
    data = text.encode("utf-8", "surrogatepass")
    masked, count = mask_span(data, 0, len(data))
    # Secrets are ASCII, so the number of characters stays.
    return (masked.decode("utf-8", "surrogatepass"), count) if count else (text, 0)


def are_free_of_secrets(parts: Iterable[tuple[bytes, Sequence[Sequence[int]]]], docs: Iterable[str]) -> bool:
    """Whether some parts of files and other texts surely hold no secret, by one pass over all of them.

    False means nothing: then each has to be scanned.
    """
    if prefilter is None:
        return False
    seen = [doc.encode("utf-8", "surrogatepass") for doc in docs]
    for text, spans in parts:
        if b"PRIVATE KEY" in text:
            return False
        for start, end in spans:
            low, high = _whole_lines(text, start, end)
            seen.append(text[low:high])
    return prefilter(b"\n".join(seen)) is None


def count_secrets(text: bytes) -> int:
    """Return the number of likely secrets in a whole file."""
    return mask_span(text, 0, len(text))[1]


def masked_note(count: int) -> Note:
    """Say that an answer had secrets masked, and what shows them."""
    what = "1 likely secret is" if count == 1 else f"{count:,} likely secrets are"
    return Note("masked", f"{what} masked", f"--show-secrets shows {'it' if count == 1 else 'them'}")


def mask_row(row: SymbolRow) -> SymbolRow:
    """Return a symbol with the secrets in its names and signature masked."""
    names = (row.name, row.qualified_name, row.signature)
    shown = [mask_text(each) for each in names]
    if shown == [*names]:
        return row
    return row._replace(name=shown[0], qualified_name=shown[1], signature=shown[2])


def mask_lines(text: bytes, matches: Iterable[LineMatch]) -> tuple[list[LineMatch], int]:
    """Return matching lines of a file with their secrets masked, and the number of secrets."""
    shown: list[LineMatch] = []
    total = 0
    for match in matches:
        if private_keys(text).spans:
            masked = _masked_lines(text)[match.line - 1]
            count = int(masked != match.text)
        else:
            masked, count = mask_counted(match.text)
        shown.append(type(match)(match.line, masked, match.spans) if count else match)
        total += count
    return shown, total


def find_secrets(text: bytes, start: int, end: int) -> list[list[Span]]:
    """Return the secrets in the lines of a part of a file, each as the spans to mask."""
    low, high = _whole_lines(text, start, end)
    lines = text[low:high]
    if not _may_hold_secret(lines):
        return private_keys(text).between(low, high)
    spans: list[Span] = []
    if _RUN in (runs := lines.translate(_TOKEN_BYTES_TO_RUNS)):
        for first, last in _long_runs(lines, runs):
            from dowse.security.secret_patterns import find_tokens

            spans += find_tokens(lines, first, last)
    lowered = lines.lower()
    for word in SECRET_WORDS:
        if word in lowered:
            spans += _assigned(lines, lowered, word)
    if b"://" in lines and b"@" in lines:
        from dowse.security.secret_patterns import find_url_passwords

        spans += find_url_passwords(lines)
    secrets = [[(low + first, low + last)] for first, last in spans]
    return secrets + private_keys(text).between(low, high)


def _may_hold_secret(lines: bytes) -> object:
    """Whether to scan closely; a process that has scanned much loads the RE2 prefilter."""
    global _scanned_bytes, prefilter
    if prefilter is None:
        _scanned_bytes += len(lines)
        if _scanned_bytes < _RE2_THRESHOLD_BYTES:
            return True
        from dowse.security.secret_patterns import compile_prefilter

        prefilter = compile_prefilter(SECRET_WORDS)
    return prefilter(lines)


def _whole_lines(text: bytes, start: int, end: int) -> Span:
    """Extend a part of a text to whole lines."""
    low = max(0, start - _MAX_LINE_BYTES)
    low = max(low, text.rfind(b"\n", low, start) + 1)
    high = text.find(b"\n", max(end - 1, low), end + _MAX_LINE_BYTES)
    return low, min(len(text), end + _MAX_LINE_BYTES) if high < 0 else high


def _assigned(lines: bytes, lowered: bytes, word: bytes) -> Iterable[Span]:
    """Yield the values after a word that makes the name of a secret."""
    from dowse.security.secret_patterns import find_assigned

    at = lowered.find(word)
    while at >= 0:
        yield from find_assigned(lines, word.strip(), at)
        at = lowered.find(word, at + len(word))


def _long_runs(lines: bytes, runs: bytes) -> Iterable[Span]:
    """Yield the runs that may hold a token: long enough, and with a digit."""
    at = runs.find(_RUN)
    while at >= 0:
        end = runs.find(b" ", at)
        end = len(runs) if end < 0 else end
        run = lines[at:end]
        if run.translate(None, _NO_DIGITS) or any(each in run for each in _PREFIXES_WITHOUT_DIGITS):
            yield at, end
        at = runs.find(_RUN, end)


class _PrivateKeys:
    """The lines of private keys in one file; most have none."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.spans: list[Span] = []
        self._bodies: list[int] = []  # the key that each span belongs to
        if b"PRIVATE KEY" in text:
            from dowse.security.secret_patterns import find_private_keys

            for number, body in enumerate(find_private_keys(text)):
                self.spans += body
                self._bodies += [number] * len(body)

    def between(self, low: int, high: int) -> list[list[Span]]:
        """Return the lines of keys in a part of the file, key by key."""
        if not self.spans:
            return []
        first = bisect_left(self.spans, low, key=lambda span: span[1])
        last = bisect_left(self.spans, high, key=lambda span: span[0])
        by_key: dict[int, list[Span]] = {}
        for at in range(first, last):
            by_key.setdefault(self._bodies[at], []).append(self.spans[at])
        return list(by_key.values())


# A cache of the last file: it has many symbols and lines, and each needs these.
_last_keys = _PrivateKeys(b"")
_last_lines: tuple[bytes, list[str]] = (b"", [])


def private_keys(text: bytes) -> _PrivateKeys:
    """Return the private keys of a file."""
    global _last_keys
    keys = _last_keys
    if keys.text is not text:
        keys = _last_keys = _PrivateKeys(text)
    return keys


def _masked_lines(text: bytes) -> list[str]:
    """Return the lines of a file with its secrets masked."""
    global _last_lines
    known, lines = _last_lines
    if known is not text:
        lines = mask_span(text, 0, len(text))[0].decode("utf-8", "replace").split("\n")
        _last_lines = (text, lines)
    return lines
