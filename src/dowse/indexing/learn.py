"""Learns the query adapter of an index from the commits of its repository, and validates it on new ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dowse.errors import DowseError
from dowse.history.mined import mined_commits
from dowse.lazy_classes import NamedTuple, replace
from dowse.source.git import head_commit
from dowse.storage.protocol import VectorRequest
from dowse.vectors.adapter import (
    MAX_DIMENSION,
    MAX_TEXT,
    AdapterFacts,
    AdapterFile,
    fit,
    move_head,
    read_facts,
    shift,
    write_adapter,
)

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.history.commits import MinedCommit
    from dowse.storage.protocol import Backend, Floats, Reader

T = TypeVar("T")
# The mined commits, of which the adapters of all encoders are learnt.
COMMITS = "commits.json"
# Fewer commits gain little or lose.
MIN_COMMITS = 50
_FOLDS = 5
# The newest commits that cross-validation asks.
_MAX_ASKED = 500
# Results of the embedding lane that validation looks at.
_DEPTH = 100
# Commits whose vectors are read together.
_BATCH = 50
STRENGTHS = (0.5, 1.0)
# The adapter must gain this much in mean reciprocal rank, and more than one that was fitted to shuffled
# targets: that one gains as well, by what all requests for a change have in common.
_MIN_GAIN = 0.005
# An adapter is fitted again when the history has grown by this share.
_GROWTH = 0.05


class Pairs(NamedTuple):
    """Commits as vectors, newest first."""

    queries: Floats  # of their subjects
    targets: Floats  # the mean of the symbols that they changed
    relevant: list[frozenset[int]]  # rows of those symbols


def is_outdated(derived: Path, root: Path, encoder: str) -> bool:
    """Whether the history of a repository has commits that its adapter has not seen."""
    head = head_commit(root)
    if not head:
        return False
    facts = read_facts(AdapterFile(derived, encoder))
    return facts is None or facts.head != head or bool(facts.older_than)


def learn_adapter(
    backend: Backend, root: Path, encoder: Encoder, asked: Collection[str] = ()
) -> AdapterFacts | None:
    """Learn the adapter of an index.

    What can't be learnt is recorded with the reason.

    Args:
        backend: The index, whose symbols have vectors.
        root: The repository, or a folder in it.
        encoder: The encoder of the vectors.
        asked: Of an evaluation: beginnings of the names of the commits it asks about. Only commits that are
            older than all of them are learnt; none if they are not in this history.

    Returns None where nothing can be recorded: of a corpus, on a cluster, without a git history.
    """
    with backend.reader() as reader:
        is_corpus, derived = reader.meta().get("corpus") == "1", reader.cache_folder
    head = head_commit(root)
    if is_corpus or derived is None or not head:
        return None
    store = AdapterFile(derived, encoder.id)
    try:
        commits = mined_commits(root, derived / COMMITS)
    except DowseError as error:
        facts = AdapterFacts(head, reason=str(error)[:MAX_TEXT])
        write_adapter(store, facts)
        return facts
    if not asked and _is_hardly_new(read_facts(store), commits):
        move_head(store, head)
        return read_facts(store)
    facts = AdapterFacts(head, newest=commits[0].id if commits else "", older_than=min(asked, default=""))
    with backend.reader() as reader:
        pairs = commit_pairs(reader, encoder, older_than(commits, asked) if asked else commits)
        facts, matrix = fit_adapter(reader, encoder.id, facts, pairs)
    write_adapter(store, facts, matrix)
    return facts


def _is_hardly_new(facts: AdapterFacts | None, commits: Sequence[MinedCommit]) -> bool:
    """Whether an adapter was fitted to nearly all of these commits."""
    if facts is None or facts.older_than:
        return False
    names = [each.id for each in commits[: int(_GROWTH * len(commits)) + 1]]
    return facts.newest in names


def older_than(commits: Sequence[MinedCommit], asked: Collection[str]) -> Sequence[MinedCommit]:
    """Return the commits that are older than all that are asked about; none if one is not among them."""
    places = {name: at for at, each in enumerate(commits) for name in asked if each.id.startswith(name)}
    return commits[max(places.values()) + 1 :] if len(places) == len(set(asked)) else ()


def commit_pairs(reader: Reader, encoder: Encoder, commits: Sequence[MinedCommit]) -> Pairs:
    """Return the commits of which some symbol is in the index and has a vector."""
    import numpy as np

    rows = _rows_by_symbol(reader, {symbol.partition("::")[0] for each in commits for symbol in each.symbols})
    queries, targets, relevant = [], [], []
    for batch in _batches(commits) if encoder.dimension <= MAX_DIMENSION else ():
        changed = [[row for symbol in each.symbols for row in rows.get(symbol, ())] for each in batch]
        vectors = reader.vectors(encoder.id, [row for each in changed for row in each])
        ends = np.cumsum([len(each) for each in changed])
        for commit, own, end in zip(batch, changed, ends, strict=True):
            mean = vectors[end - len(own) : end].mean(axis=0) if own else np.zeros(1)
            if mean.any():
                queries.append(commit.query)
                targets.append(mean / np.linalg.norm(mean))
                relevant.append(frozenset(own))
    if not queries:
        return Pairs(np.zeros((0, 1), np.float32), np.zeros((0, 1), np.float32), [])
    return Pairs(encoder.encode_queries(queries), np.stack(targets).astype(np.float32), relevant)


def _rows_by_symbol(reader: Reader, paths: Collection[str]) -> Mapping[str, list[int]]:
    """Return the rows of the symbols of files, by "path::qualified name"."""
    files = [file.file_id for file in reader.source_files(paths)]
    by_symbol: dict[str, list[int]] = {}
    for row in reader.rows_of_files(files):
        by_symbol.setdefault(f"{row.path}::{row.qualified_name}", []).append(row.row)
    return by_symbol


def fit_adapter(
    reader: Reader, encoder: str, facts: AdapterFacts, pairs: Pairs
) -> tuple[AdapterFacts, Floats | None]:
    """Fit an adapter to all pairs, if cross-validation says that it gains."""
    count = len(pairs.relevant)
    facts = replace(facts, commits=count)
    if count < MIN_COMMITS:
        return replace(facts, reason=f"only {count} commits changed what is here today"), None
    facts = validate(reader, encoder, facts, pairs)
    return facts, fit(pairs.queries, pairs.targets) if facts.strength else None


def validate(reader: Reader, encoder: str, facts: AdapterFacts, pairs: Pairs) -> AdapterFacts:
    """Compare adapters with none by cross-validation; choose the strength, or none.

    Folds are successive commits, for neighbours are often about the same thing.
    """
    import numpy as np

    count = len(pairs.relevant)
    folds = np.arange(count) * _FOLDS // count
    shuffled = pairs.targets[np.random.default_rng(0).permutation(count)]

    def measure(targets: Floats, strength: float) -> float:
        asked = pairs.queries.copy()
        for fold in range(_FOLDS):
            inside = folds == fold
            asked[inside] = shift(asked[inside], fit(pairs.queries[~inside], targets[~inside]), strength)
        return mean_reciprocal_rank(reader, encoder, asked[:_MAX_ASKED], pairs.relevant[:_MAX_ASKED])

    before = measure(pairs.targets, 0.0)
    after, strength = max((measure(pairs.targets, strength), strength) for strength in STRENGTHS)
    control = measure(shuffled, strength)
    validated = min(count, _MAX_ASKED)
    facts = replace(facts, validated=validated, before=before, after=after, shuffled=control)
    if after - before < _MIN_GAIN:
        return replace(facts, reason="no gain")
    if after < control:
        return replace(facts, reason="shuffled commits gain as much")
    return replace(facts, strength=strength)


def mean_reciprocal_rank(
    reader: Reader, encoder: str, queries: Floats, relevant: Sequence[Collection[int]]
) -> float:
    """Return the mean reciprocal rank of the first relevant row among the nearest of each query."""
    total = 0.0
    nearest = (reader.nearest(VectorRequest(encoder, query), _DEPTH) for query in queries)
    for hits, rows in zip(nearest, relevant, strict=True):
        total += next((1 / rank for rank, (row, _) in enumerate(hits, 1) if row in rows), 0.0)
    return total / len(relevant)


def _batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[start : start + _BATCH] for start in range(0, len(values), _BATCH))
