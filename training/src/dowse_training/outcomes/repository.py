"""One repository in, its pairs out: what runs in each worker process."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dowse.errors import DowseError
from dowse.eval.mine.doc_pairs import Candidate
from dowse.history.subjects import query_from_subject
from dowse.parsing.languages import LANGUAGES, detect_language
from dowse.source.content import decode
from dowse.source.roles import file_role
from dowse_training.outcomes.changes import ChangedFunction, changed_functions, read_source
from dowse_training.outcomes.history import FileChange, History, LoggedCommit, TreeFile, open_history
from dowse_training.outcomes.messages import added_news, clean_body, is_news_file
from dowse_training.outcomes.overviews import documented_overviews
from dowse_training.pairs.exclusion import Exclusion
from dowse_training.pairs.filters import FILTERS
from dowse_training.pairs.model import MAX_CODE_CHARACTERS, MAX_FILE_BYTES

COMMIT, NEWS = "commit", "news"

# A message is about few files; one that touches more describes what they have in common.
MAX_FILES = 8
MAX_FUNCTIONS = 3
# A function that every second commit touches (`main`) would drown the others.
MAX_COMMITS_OF_FUNCTION = 6
# Documentation that stands on more is a formula, not about one of them.
MAX_SAME_DOC = 2
# The share of a repository's time that the classes and files of HEAD get, after the commits.
_OVERVIEW_SHARE = 0.3

_MESSAGE_FILTERS = [FILTERS[name] for name in ("documentation not ASCII", "documentation not English")]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much of a repository is read."""

    commits: int = 3_000
    seconds: float = 20.0  # of CPU time


class Outcome(NamedTuple):
    """One line of the output, and its language."""

    language: str
    pkg: str
    path: str
    name: str
    doc: str
    code: str
    kind: str  # "commit", "news", "class" or "file"


class MinedRepository(NamedTuple):
    """What a repository gave, or why it gave nothing."""

    name: str
    outcomes: tuple[Outcome, ...]
    seconds: float
    problem: str = ""


def mine_repository(name: str, folder: Path, exclusion: Exclusion, effort: Effort) -> MinedRepository:
    """Mine a repository (`owner/name`) until its time is up."""
    began = time.monotonic()
    outcomes: tuple[Outcome, ...] = ()
    problem = ""
    try:
        outcomes = tuple(_outcomes(name, folder, exclusion, effort))
    except DowseError as error:
        problem = str(error)
    return MinedRepository(name, outcomes, time.monotonic() - began, problem)


def _outcomes(name: str, folder: Path, exclusion: Exclusion, effort: Effort) -> Iterator[Outcome]:
    """Give the pairs of a repository, each once; raise DowseError if it must not be used."""
    if exclusion.has_name([name]):
        raise DowseError("excluded by name")
    seen: set[tuple[str, str]] = set()
    with open_history(folder) as history:
        tree = history.tree()
        if not history.is_permissive(tree):
            raise DowseError("no permissive licence")
        for kind, candidate in _candidates(history, tree, effort):
            code = candidate.code[:MAX_CODE_CHARACTERS].rstrip()
            if (candidate.doc, code) in seen or _is_excluded(candidate, code, exclusion):
                continue
            seen.add((candidate.doc, code))
            names = (candidate.path, candidate.qualified_name)
            yield Outcome(candidate.language, name, *names, candidate.doc, code, kind)


def _is_excluded(candidate: Candidate, code: str, exclusion: Exclusion) -> bool:
    """Whether a list holds the message, the function, whole or cut, or its documentation."""
    if exclusion.reason(candidate.doc, candidate.code) or exclusion.has_code(code):
        return True
    return bool(candidate.written_doc.strip()) and exclusion.has_doc(candidate.written_doc)


def _candidates(history: History, tree: list[TreeFile], effort: Effort) -> Iterator[tuple[str, Candidate]]:
    """Give (kind, candidate) from commits, then from HEAD."""
    end = time.process_time() + effort.seconds
    yield from _from_commits(history, effort.commits, end - effort.seconds * _OVERVIEW_SHARE)
    yield from _from_tree(history, tree, end)


def _from_commits(history: History, limit: int, end: float) -> Iterator[tuple[str, Candidate]]:
    """Give the functions that commits changed with each message and its news, newest first."""
    seen: set[str] = set()
    counts: Counter[tuple[str, str]] = Counter()
    for commit in history.commits(limit):
        if time.process_time() > end:
            return
        query = query_from_subject(commit.subject, commit.author)
        if not query or query.casefold() in seen:
            continue
        seen.add(query.casefold())
        changed = [each for each in _changed(history, commit) if counts[_key(each)] < MAX_COMMITS_OF_FUNCTION]
        changed = changed[:MAX_FUNCTIONS]
        counts.update(map(_key, changed))
        texts = _texts(history, commit, query) if changed else {}
        yield from (
            (kind, candidate)
            for kind, text in texts.items()
            for each in changed
            if _is_english(candidate := each.candidate._replace(doc=text))
        )


def _texts(history: History, commit: LoggedCommit, query: str) -> dict[str, str]:
    """Return what was written about a commit, by kind."""
    body = clean_body(commit.body, query)
    texts = {COMMIT: f"{query}\n\n{body}" if body else query, NEWS: _news(history, commit)}
    return {kind: text for kind, text in texts.items() if text}


def _is_english(candidate: Candidate) -> bool:
    return not any(drops(candidate) for drops in _MESSAGE_FILTERS)


def _changed(history: History, commit: LoggedCommit) -> list[ChangedFunction]:
    """Return the functions that a commit changed, those with most changed lines first; types come last."""
    files = [change for change in commit.changes if _is_own_code(change.path)]
    if len(files) > MAX_FILES:
        return []
    found: dict[tuple[str, str], ChangedFunction] = {}
    for change in files:
        before, after = _read(history, change)
        for each in changed_functions(before, after, change.path) if before and after else ():
            key = _key(each)
            if key not in found or found[key].lines < each.lines:  # the parts of a long function
                found[key] = each
    functions = [each for each in found.values() if each.is_function] or list(found.values())
    return sorted(functions, key=lambda each: -each.lines)


def _news(history: History, commit: LoggedCommit) -> str:
    """Return what a commit added to the change log."""
    for change in commit.changes:
        if is_news_file(change.path):
            before, after = _read(history, change)
            if news := added_news(decode(before)[0], decode(after)[0]):
                return news
    return ""


def _from_tree(history: History, tree: list[TreeFile], end: float) -> Iterator[tuple[str, Candidate]]:
    """Give the documented classes and files, in a random but repeatable order."""
    files = [file for file in tree if _is_own_code(file.path)]
    found: list[tuple[str, Candidate]] = []
    for file in sorted(files, key=lambda each: hashlib.sha256(os.fsencode(each.path)).digest()):
        if time.process_time() > end:
            break
        data = history.blobs.read(file.blob) or b""
        source = read_source(data, file.path) if 0 < len(data) <= MAX_FILE_BYTES else None
        if source is not None:
            found += documented_overviews(source, file.path)
    docs = Counter(candidate.doc for _, candidate in found)
    yield from ((kind, candidate) for kind, candidate in found if docs[candidate.doc] <= MAX_SAME_DOC)


def _read(history: History, change: FileChange) -> tuple[bytes, bytes]:
    """Return a file's content before and after a commit, b"" for what is missing or too large."""
    before, after = (
        history.blobs.read(blob) or b"" if blob else b"" for blob in (change.before, change.after)
    )
    return (before, after) if max(len(before), len(after)) <= MAX_FILE_BYTES else (b"", b"")


def _is_own_code(path: str) -> bool:
    return detect_language(path) in LANGUAGES and not file_role(path)


def _key(changed: ChangedFunction) -> tuple[str, str]:
    return changed.candidate.path, changed.candidate.qualified_name
