"""Which files of a large tree are read first: someone waits for the first answer, and words take minutes."""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from dowse.parsing.tokenizer import content_words
from dowse.security.safe_files import read_below

if TYPE_CHECKING:
    from dowse.indexing.parse_jobs import Job

# So much source is read for the first answer: some ten seconds on two cores.
FIRST_BYTES = 16_000_000
# A long file has any word, and takes the place of many; below this size that says nothing.
_SMALL_BYTES = 2_000
_WORD = re.compile(r"[A-Za-z0-9]+|[^\W_]+")
# Words match in all their forms: without their last letters, where enough of them are left.
_ENDING, _MIN_STEM = 3, 4
# Tests and copies name what others do.
_LESS_LIKELY = frozenset(["test", "benchmark", "generated", "vendored"])


def likely_files(jobs: list[Job], question: str) -> list[Job]:
    """Return the files that a question is most likely about, in their order; all, unless they are many.

    Args:
        jobs: The files of a tree.
        question: In plain words.
    """
    if sum(job.size for job in jobs) <= 2 * FIRST_BYTES:
        return jobs
    words = {word.lower() for text in content_words(question) for word in _WORD.findall(text)}
    stems = [word[: max(_MIN_STEM, len(word) - _ENDING)].encode() for word in sorted(words)]
    found = [_stems_of(job, stems) for job in jobs]
    counts = Counter(stem for each in found for stem in set(each))
    weights = {stem: math.log(1 + len(jobs) / count) for stem, count in counts.items()}

    def likelihood(place: int) -> tuple[float, int]:
        job = jobs[place]
        score = sum(weights[stem] for stem in found[place]) / math.sqrt(job.size + _SMALL_BYTES)
        return (score / 2 if job.role in _LESS_LIKELY else score), -place

    chosen, size = set[int](), 0
    for place in sorted(range(len(jobs)), key=likelihood, reverse=True):
        size += jobs[place].size
        if size > FIRST_BYTES:
            break
        chosen.add(place)
    return [jobs[place] for place in sorted(chosen)]


def _stems_of(job: Job, stems: list[bytes]) -> list[bytes]:
    """Return the words of the question that are in a file; those of its path once more."""
    path, text = job.path.lower().encode("utf-8", "replace"), b""
    with contextlib.suppress(OSError):
        text = read_below(job.root, job.file, job.size).lower()
    return [stem for place in (path, text) for stem in stems if stem in place]
