"""The functions, methods and classes that a commit changed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dowse.eval.mine.history import Hunk
from dowse.eval.mine.repository import Repository, as_eval_error
from dowse.eval.mine.sources import definitions_in
from dowse.source.git_process import GitError, GitProcess
from dowse.source.walk import MAX_FILE_BYTES

# A line that only closes a block is no evidence of what was changed.
_MEANINGFUL = re.compile(rb"(?!\s*(?:end|else|do|then|pass|begin)\b\W*$).*?\w")


def changed_symbols(data: bytes, path: str, hunks: Sequence[Hunk]) -> list[str]:
    """Return the qualified names of the definitions whose own text a commit changed, in their order.

    A definition's own text is what dowse shows of it: a class without its methods, a function with its nested
    functions. So a line of a method names the method and not its class, a line of a nested function names
    both, and a line outside of all definitions names nothing.

    Deleted lines name the definition that still surrounds them. A definition that was deleted as a whole is
    not named: it can't be found.

    Args:
        data: The file after the change.
        path: What it was called then.
        hunks: The changed lines.
    """
    text, definitions = definitions_in(data, path)
    if not definitions:
        return []
    starts = [0, *(at.end() for at in re.finditer(rb"\n", text))]
    written = sorted({offset for hunk in hunks for offset in _written_offsets(text, starts, hunk)})
    # Where the line after deleted ones begins.
    gaps = sorted({gap for hunk in hunks if not hunk.lines for gap in starts[hunk.start : hunk.start + 1]})
    found = (
        each.qualified_name
        for each in definitions
        if any(_any_inside(written, *span) or _any_inside(gaps, span[0] + 1, span[1]) for span in each.spans)
    )
    return list(dict.fromkeys(found))


def _written_offsets(text: bytes, starts: Sequence[int], hunk: Hunk) -> Iterator[int]:
    """Give the offset of the first word in each meaningful line of a hunk."""
    for start in starts[hunk.start - 1 : hunk.start - 1 + hunk.lines]:
        end = text.find(b"\n", start)
        match = _MEANINGFUL.match(text, start, len(text) if end < 0 else end)
        if match:
            yield match.end() - 1


def _any_inside(offsets: Sequence[int], start: int, end: int) -> bool:
    return bisect_left(offsets, start) < bisect_left(offsets, end)


class Blobs:
    """Blobs of a repository by their ids, through two git processes: one for sizes, one for contents.

    The size is asked for first, since a few bytes of a pack can expand to any number (decompression bomb).
    """

    def __init__(self, sizes: GitProcess, texts: GitProcess) -> None:
        self._sizes, self._texts = sizes, texts

    def read(self, name: str) -> bytes | None:
        """Return the content of a blob; None if it is missing, or larger than any file that is indexed."""
        size = _blob_size(self._sizes.request(name))
        if size is None or size > MAX_FILE_BYTES:
            return None
        if _blob_size(self._texts.request(name)) != size:
            return None
        return self._texts.read_exactly(size + 1)[:-1]  # without the line break after it


def _blob_size(answer: bytes) -> int | None:
    """Read "NAME blob SIZE"; None for "NAME missing" and other objects."""
    fields = answer.split()
    if len(fields) != 3 or fields[1] != b"blob" or not fields[2].isdigit():
        return None
    return int(fields[2])


@contextmanager
def open_blobs(repository: Repository) -> Iterator[Blobs]:
    """Start the git processes that read blobs, and end them."""
    git = repository.git
    with (
        git.start("cat-file", "--batch-check", interactive=True) as sizes,
        git.start("cat-file", "--batch", interactive=True) as texts,
    ):
        try:
            yield Blobs(sizes, texts)
        except GitError as error:
            raise as_eval_error(error) from error
