"""Ranking signals beside the lanes: definition, name, file, folder, coherence, role and file saturation.

Every signal adds a share of the best lane score, or with sums of 1/rank of the range of scores, so that it
means the same for short and long queries and on small and large indexes.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from dowse.lazy_classes import NamedTuple, dataclass, field, replace
from dowse.parsing.tokenizer import split_identifier, stem
from dowse.search.ranking.profile import Profile
from dowse.search.ranking.qualified_names import is_module_named, is_named
from dowse.search.ranking.type_names import types_first
from dowse.source.roles import is_guide
from dowse.symbol_lookup import module_path
from dowse.types import NON_DEFINITION_KINDS, Contribution, Place, SymbolRow

# Stems of the words by which a query asks for files of a role that is otherwise ranked lower.
_ROLE_WORDS = {
    "test": {"test", "spec", "fixtur", "mock", "unittest", "testcas"},
    "example": {"exampl", "sampl", "demo", "tutori"},
    "generated": {"generat", "autogener"},
    "vendored": {"vendor"},
    "docs": {"doc", "document", "readm", "changelog", "guid"},
    "benchmark": {"bench", "benchmark"},
}
# Roles of files that hold copies of other code.
COPY_ROLES = frozenset(["generated", "vendored"])
# The share of files from which on a word of their folders says nothing: mostly the project's own name.
_NEARLY_ALL = 0.8
# The shortest word that counts as an abbreviation of a longer one: "conf" for "configuration".
_MIN_PREFIX = 4
# Lines from which on a symbol is as long as one can be.
_MAX_LENGTH = 200
# Weight of a definition whose name differs from the query in case only.
_OTHER_CASE = 0.3
# Folders and files of old versions, of usual systems and of less common ones.
_VERSION = re.compile(r"v(\d{1,3})(?:(alpha|beta|rc)(\d*))?\Z", re.IGNORECASE)
_STAGES = ("alpha", "beta", "rc", "")
_OLD = frozenset(["deprecated", "legacy", "obsolete", "old"])
_USUAL_SYSTEMS = frozenset(["unix", "posix", "linux", "darwin", "macos", "mac", "osx", "bsd", "nix"])
_OTHER_SYSTEMS = frozenset(
    "win win32 win64 windows mingw cygwin msvc os390 zos aix sunos solaris haiku ibmi hpux qnx vms".split()
)
# How a question asks for a variant by another word.
_SYNONYMS = {"windows": _OTHER_SYSTEMS & frozenset(["win", "win32", "win64", "mingw", "msvc"])}


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """What signals need to know of a query."""

    terms: frozenset[str]  # stemmed, stop words left out
    names: frozenset[str] = frozenset()  # as written, if the query is nothing but names
    filtered_roles: frozenset[str] = frozenset()  # roles that path filters select
    words: frozenset[str] = frozenset()  # as written, in lower case
    weights: Mapping[str, float] = field(default_factory=dict)  # of the terms: shares of the sum of their IDF

    def roles(self) -> frozenset[str]:
        """Return the roles that the query asks for by words or filters."""
        named = {role for role, words in _ROLE_WORDS.items() if words & self.terms}
        return self.filtered_roles | named


@dataclass(slots=True)
class RankedHit:
    """A candidate with its score and the contributions that sum to it."""

    row: SymbolRow
    score: float
    contributions: list[Contribution]
    also_in: tuple[Place, ...] = ()  # its copies


def rank(
    rows: Sequence[SymbolRow],
    contributions: Sequence[Sequence[Contribution]],
    features: QueryFeatures,
    profile: Profile,
) -> list[RankedHit]:
    """Add the signals to the lane scores of candidates and sort, best first; ties keep their order."""
    if not rows:
        return []
    scores = [sum(part.value for part in each) for each in contributions]
    # Symbols that no lane found have no contribution yet.
    low = min((score for score, each in zip(scores, contributions, strict=True) if each), default=0.0)
    low = low if profile.by_spread else 0.0
    unit = max(scores) - low or max(scores)
    signals = _Signals(features, profile, unit)
    if profile.file or profile.folder or profile.path:
        signals.note_files({row.file_id: row.path for row in rows}.values())
    if features.names:
        signals.note_first_parts(rows)
    candidates = zip(rows, scores, contributions, strict=True)
    ranked = [signals.boost(RankedHit(row, score, list(each))) for row, score, each in candidates]
    if profile.coherence:
        weights = [
            0.0 if signals.is_copy(row) else max(0.0, score - low) ** profile.coherence_power
            for row, score in zip(rows, scores, strict=True)
        ]
        _add_coherence(ranked, weights, profile, unit, signals)
    variants = lesser_variants((row.path for row in rows), features.words) if profile.variant < 1 else ()
    for hit in ranked:
        signals.penalise_role(hit)
        if hit.row.path in variants:
            _penalise(hit, "variant", profile.variant)
    ranked.sort(key=lambda hit: -hit.score)
    if profile.promote_definitions:
        _promote_definitions(ranked)
    if profile.saturation < 1:
        ranked = _apply_file_saturation(ranked, profile.saturation)
    return types_first(ranked, *features.names) if profile.definition and len(features.names) == 1 else ranked


def profile_for_cosines(profile: Profile) -> Profile:
    """Return the weights for cosines alone: only roles count, and less."""
    share = profile.cosine_role_share
    roles = {role: 1 - share * (1 - factor) for role, factor in profile.roles.items()}
    return Profile(fields={}, definition=0.0, roles=roles)


def profile_for_ranks(profile: Profile) -> Profile:
    """Return the weights for sums of 1/rank: RRF, with or without weights of lanes."""
    share = profile.rank_signal_share
    return replace(
        profile,
        by_spread=True,
        name=share * profile.name,
        file=share * profile.file,
        folder=share * profile.folder,
        header=share * profile.header,
        coherence=profile.rank_coherence,
        coherence_power=profile.rank_coherence_power,
        saturation=1 - share * (1 - profile.saturation),
    )


def has_no_signals(profile: Profile) -> bool:
    """Whether only an exact name in the query can change the order of lane scores."""
    p = profile
    shares = (p.name, p.file, p.folder, p.path, p.header, p.length, p.coherence, p.promote_definitions)
    return not any(shares) and not p.roles and p.saturation == 1.0


class _Signals:
    """The signals of one query; comparisons of words are cached."""

    def __init__(self, features: QueryFeatures, profile: Profile, unit: float) -> None:
        self._features, self._profile, self._unit = features, profile, unit
        # Who asks how to run tests does not ask for one.
        self._roles = features.filtered_roles if profile.guide else features.roles()
        self._shares: dict[frozenset[str], float] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._common: frozenset[str] = frozenset()
        self._places: dict[str, tuple[float, float, float]] = {}
        self._starts: dict[str, list[str]] = defaultdict(list)  # terms by how they begin
        for term in features.terms:
            self._starts[term[:_MIN_PREFIX]].append(term)
        self._first_lines: dict[tuple[int, str, str], int] = {}
        self._folded = {name.lower() for name in features.names}

    def note_first_parts(self, rows: Sequence[SymbolRow]) -> None:
        """Note where symbols begin: of one that is split, the first part is the definition."""
        for row in rows:
            key = (row.file_id, row.qualified_name, row.signature)
            self._first_lines[key] = min(self._first_lines.get(key, row.start_line), row.start_line)

    def note_files(self, paths: Collection[str]) -> None:
        """Note the words that the folders of nearly all files have: they tell no file from another."""
        counts = Counter(term for path in paths for term in _folder_terms(path))
        self._common = frozenset(term for term, count in counts.items() if count > _NEARLY_ALL * len(paths))

    def boost(self, hit: RankedHit) -> RankedHit:
        """Add the signals that speak for a symbol to its score."""
        profile, row = self._profile, hit.row
        of_file, of_folder, of_path = self._places.get(row.path) or self._note_place(row.path)
        for name, share in (
            ("definition", profile.definition and profile.definition * self._name_match(row)),
            ("name", profile.name and profile.name * self._overlap(name_terms(row.name))),
            ("file", of_file),
            ("folder", of_folder),
            ("path", of_path),
            ("guide", profile.guide and profile.guide * (row.role in ("", "docs") and is_guide(row.path))),
            ("header", profile.header if _is_module_level(row) else 0.0),
            ("length", profile.length and profile.length * _length(row)),
        ):
            if share:
                hit.contributions.append(Contribution(f"signal.{name}", share * self._unit))
                hit.score += share * self._unit
        return hit

    def _note_place(self, path: str) -> tuple[float, float, float]:
        """Return what the name of a file, its folders and both together add to its symbols."""
        profile = self._profile
        place = (
            profile.file and profile.file * self.file_overlap(path),
            profile.folder and profile.folder * self._overlap(_folder_terms(path)),
            profile.path and profile.path * self._coverage(_folder_terms(path) | _file_terms(path)),
        )
        self._places[path] = place
        return place

    def is_copy(self, row: SymbolRow) -> bool:
        """Whether a file is built, generated or vendored, and not asked for.

        A bundle has the matches of all files that it was built from: that says nothing for it.
        """
        return row.role in COPY_ROLES and row.role not in self._roles

    def penalise_role(self, hit: RankedHit) -> None:
        """Lower the score of tests, examples and the like, unless the query asks for them."""
        role = hit.row.role
        factor = self._profile.roles.get(role, 1.0) if role and role not in self._roles else 1.0
        if factor != 1.0:
            _penalise(hit, role, factor)

    def _name_match(self, row: SymbolRow) -> float:
        """Return 1 if the query is the name of this symbol, qualified or not, and less if only case differs.

        The module level of a file has the file's name, but defines nothing, unless it is asked for as a
        module: `flask.json`, `axum::extract`.
        """
        names = self._features.names
        if not names:
            return 0.0
        if _is_module_level(row):
            return float(any(is_module_named(row.path, name) for name in names))
        if row.start_line > self._first_lines.get(
            (row.file_id, row.qualified_name, row.signature), row.start_line
        ):
            return 0.0
        if row.name in names or row.qualified_name in names or any(is_named(row, name) for name in names):
            return 1.0
        return _OTHER_CASE * (row.name.lower() in self._folded or row.qualified_name.lower() in self._folded)

    def file_overlap(self, path: str) -> float:
        """Return the share of the words of a file's name that the query has."""
        return self._overlap(_file_terms(path))

    def _overlap(self, present: frozenset[str]) -> float:
        """Return the share of these words that the query has, or has a longer or shorter form of."""
        known = self._shares.get(present)
        if known is None:
            shared = sum(1 for word in present if word not in self._common and self._terms_of(word))
            known = self._shares[present] = shared / len(present) if present else 0.0
        return known

    def _coverage(self, present: frozenset[str]) -> float:
        """Return how much of the query these words are, by the weights of its terms."""
        terms = frozenset[str]().union(*(self._terms_of(word) for word in present - self._common))
        return sum(self._features.weights.get(term, 0.0) for term in terms)

    def _terms_of(self, word: str) -> frozenset[str]:
        """Return the terms of the query that are a word, or a longer or shorter form of it."""
        known = self._words.get(word)
        if known is None:
            forms = self._starts.get(word[:_MIN_PREFIX], ())
            known = self._words[word] = frozenset(
                term
                for term in forms
                if term == word
                or (len(term) >= _MIN_PREFIX and (term.startswith(word) or word.startswith(term)))
            )
        return known


def _promote_definitions(ranked: list[RankedHit]) -> None:
    """Swap the best definition of a file with its module level, if that ranks higher.

    Imports and module documentation often show that this is the right file; a reader wants to see code that
    does something.
    """
    heads: dict[int, int] = {}  # rank of the module level of a file; -1 once there is nothing to swap
    for rank, hit in enumerate(ranked):
        head_rank = heads.setdefault(hit.row.file_id, rank if _is_module_level(hit.row) else -1)
        if head_rank < 0 or hit.row.kind in NON_DEFINITION_KINDS:
            continue
        heads[hit.row.file_id] = -1
        head = ranked[head_rank]
        gain = head.score - hit.score
        hit.contributions.append(Contribution("signal.head", gain, "swapped with the module level"))
        head.contributions.append(Contribution("signal.head", -gain, f"after {hit.row.name}"))
        head.score, hit.score = hit.score, head.score
        ranked[head_rank], ranked[rank] = hit, head


def _apply_file_saturation(ranked: list[RankedHit], factor: float) -> list[RankedHit]:
    """Lower all but the first hit of a file, so that one file does not fill the answer.

    All by the same factor: lowering each further one more hides the right functions of large files.
    """
    seen: set[int] = set()
    for hit in ranked:
        if hit.row.file_id in seen:
            _penalise(hit, "saturation", factor)
        seen.add(hit.row.file_id)
    ranked.sort(key=lambda hit: -hit.score)
    return ranked


def _penalise(hit: RankedHit, signal: str, factor: float) -> None:
    """Multiply a score, unless it is negative: a factor below 1 would raise it."""
    if hit.score > 0:
        hit.contributions.append(Contribution(f"signal.{signal}", hit.score * (factor - 1), f"× {factor:g}"))
        hit.score *= factor


def location(row: SymbolRow) -> tuple[str, str, int, int]:
    """Return a sort key by location, to break ties."""
    return (row.repo, row.path, row.start_line, row.row)


def _add_coherence(
    ranked: list[RankedHit], weights: Sequence[float], profile: Profile, unit: float, signals: _Signals
) -> None:
    """Raise the best symbol of each file by the other matches in the file, each by its weight.

    A module whose name the query has also gains by the matches in the folder that it heads, such as
    `extract/path.rs` for `extract/mod.rs`: it is the way in, and often re-exports what is there.
    """
    sums: dict[int, float] = defaultdict(float)
    counts: Counter[int] = Counter()
    best: dict[int, RankedHit] = {}
    for hit, weight in zip(ranked, weights, strict=True):
        file_id = hit.row.file_id
        sums[file_id] += weight
        counts[file_id] += 1
        if file_id not in best or hit.score > best[file_id].score:
            best[file_id] = hit
    for file_id, count in counts.items():
        sums[file_id] /= count**profile.coherence_size
    highest = max(sums.values()) or 1.0
    modules = {module_path(hit.row.path): file_id for file_id, hit in best.items()} if profile.heads else {}
    members: dict[int, float] = defaultdict(float)
    for file_id, hit in best.items():
        head = modules.get(hit.row.path.rpartition("/")[0], file_id)
        if head != file_id:
            members[head] += sums[file_id]
    for file_id, hit in best.items():
        of_folder = profile.heads * signals.file_overlap(hit.row.path) * members[file_id]
        share = profile.coherence * unit * min(1.0, (sums[file_id] + of_folder) / highest)
        if share:
            hit.contributions.append(Contribution("signal.coherence", share))
            hit.score += share


def _length(row: SymbolRow) -> float:
    """Return the length of a symbol on a logarithmic scale: 1 for so many lines or more."""
    return math.log1p(min(_MAX_LENGTH, row.end_line - row.start_line + 1)) / math.log1p(_MAX_LENGTH)


def _is_module_level(row: SymbolRow) -> bool:
    """Whether this is the code of a file outside its definitions."""
    return row.kind == "module" and not row.signature


@functools.lru_cache(maxsize=100_000)
def name_terms(name: str) -> frozenset[str]:
    """Return the stems of the words that a name is made of."""
    return frozenset(stem(part) for part in split_identifier(name))


@functools.lru_cache(maxsize=100_000)
def _file_terms(path: str) -> frozenset[str]:
    """Return the words of a file's name; `mod.rs` and the like have that of their folder."""
    return name_terms(module_path(path).rpartition("/")[2])


@functools.lru_cache(maxsize=100_000)
def _folder_terms(path: str) -> frozenset[str]:
    return frozenset(term for name in path.split("/")[:-1] for term in name_terms(name))


class _Version(NamedTuple):
    """A folder that is a version: `v2`, `v1beta1`."""

    parent: str
    number: int
    stage: int
    name: str


def lesser_variants(paths: Iterable[str], words: Collection[str]) -> frozenset[str]:
    """Return the paths that are old or unusual variants of others; none that the words of a query name.

    `v3/types.ts` beside `v4/`, `v1/fields.py` beside `fields.py`, `legacy/`, `win/fs.c` beside `unix/fs.c`:
    all match a question alike, and who does not name one of them asks for the current code of the usual
    system. Whether a newer or more usual variant exists is decided among the candidates: where only the old
    one matches, it is the answer.
    """
    paths = list(dict.fromkeys(paths))
    known = set(paths)
    versions = {path: version for path in paths if (version := _version(path))}
    newest: dict[str, _Version] = {}
    for version in versions.values():
        newest[version.parent] = max(newest.get(version.parent, version), version)
    has_usual_system = any(_words(path) & _USUAL_SYSTEMS for path in paths)
    named = frozenset(words).union(*(_SYNONYMS.get(word, ()) for word in words))
    lesser = set()
    for path in paths:
        version = versions.get(path)
        if version and version.name not in named:
            rest = path[len(version.parent) + len(version.name) + 1 :]
            if version < newest[version.parent] or version.parent + rest in known:
                lesser.add(path)
        system = _words(path) & _OTHER_SYSTEMS
        is_other_system = has_usual_system and system and not system & named
        if is_other_system or _words(path) & _OLD - named:
            lesser.add(path)
    return frozenset(lesser)


@functools.lru_cache(maxsize=100_000)
def _version(path: str) -> _Version | None:
    """Return the first version among the folders of a path."""
    folders = path.split("/")[:-1]
    for depth, name in enumerate(folders):
        match = _VERSION.match(name)
        if match:
            parent = "".join(f"{folder}/" for folder in folders[:depth])
            return _Version(parent, int(match[1]), _STAGES.index((match[2] or "").lower()), name.lower())
    return None


@functools.lru_cache(maxsize=100_000)
def _words(path: str) -> frozenset[str]:
    """Return the words of a path's folders and of its file's name."""
    *folders, name = path.lower().split("/")
    stem = name.partition(".")[0]
    return frozenset([*folders, stem, *split_identifier(stem)])
