"""Which functions, methods and classes the lines of a change belong to."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dowse.eval.mine.history import Hunk
from dowse.eval.mine.repository import Repository, error_of
from dowse.eval.mine.sources import definitions_in
from dowse.source.git_process import GitError, GitProcess
from dowse.source.walk import MAX_FILE_BYTES

# A line that only closes what others opened says nothing of what was changed.
_SAYS_SOMETHING = re.compile(rb"(?!\s*(?:end|else|do|then|pass|begin)\b\W*$).*?\w")


def touched_symbols(data: bytes, path: str, hunks: Sequence[Hunk]) -> list[str]:
    """Return the qualified names of the definitions whose own text a change touched, in their order.

    A definition's own text is what dowse shows of it: a class without its methods, a function with the
    functions inside it. So a line of a method names the method and not its class, a line of a function in a
    function names both, a line outside of all names nothing.

    Lines that were only taken out name what still surrounds the place where they stood. What was taken out
    as a whole names nothing: it is not there to be found.

    Args:
        data: The file after the change.
        path: What it was called then.
        hunks: The changed lines.
    """
    text, definitions = definitions_in(data, path)
    if not definitions:
        return []
    starts = [0, *(at.end() for at in re.finditer(rb"\n", text))]
    places = sorted({place for hunk in hunks for place in _written(text, starts, hunk)})
    gaps = sorted({gap for hunk in hunks if not hunk.lines for gap in _gap(starts, hunk)})
    found = (
        each.qualified_name
        for each in definitions
        if any(_any_inside(places, *span) or _any_inside(gaps, span[0] + 1, span[1]) for span in each.spans)
    )
    return list(dict.fromkeys(found))


def _written(text: bytes, starts: Sequence[int], hunk: Hunk) -> Iterator[int]:
    """Give the place of the first word in each line of a hunk that says something."""
    for start in starts[hunk.start - 1 : hunk.start - 1 + hunk.lines]:
        end = text.find(b"\n", start)
        said = _SAYS_SOMETHING.match(text, start, len(text) if end < 0 else end)
        if said:
            yield said.end() - 1


def _gap(starts: Sequence[int], hunk: Hunk) -> Sequence[int]:
    """Return where the line after those that were taken out begins."""
    return starts[hunk.start : hunk.start + 1]


def _any_inside(places: Sequence[int], start: int, end: int) -> bool:
    return bisect_left(places, start) < bisect_left(places, end)


class Blobs:
    """Contents of a repository by their names, through two processes of git: one for sizes, one for texts.

    A size is asked for first, since a few bytes of a pack can expand to any number.
    """

    def __init__(self, sizes: GitProcess, texts: GitProcess) -> None:
        self._sizes, self._texts = sizes, texts

    def read(self, name: str) -> bytes | None:
        """Return a content; None if it is missing, or larger than anything that is indexed."""
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
    """Start the processes that give contents, and end them."""
    git = repository.git
    with (
        git.start("cat-file", "--batch-check", interactive=True) as sizes,
        git.start("cat-file", "--batch", interactive=True) as texts,
    ):
        try:
            yield Blobs(sizes, texts)
        except GitError as error:
            raise error_of(error) from error
