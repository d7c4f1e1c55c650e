"""Every setting with every other, on indexes of every kind: what comes is an answer or an error for the user.

`tests/test_setting_combinations.py` tries each pair of values.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dowse import Index
from dowse.config import CLUSTERINGS, DIVERSIFY, FUSIONS, FUZZINESS, MODES, SETTINGS
from dowse.errors import DowseError, QueryError
from dowse.feedback.events import Event

from helpers import write_tree

Values = Mapping[str, Any]

# How an index is built.
INDEX_VALUES: Mapping[str, Sequence[Any]] = {
    "encoder": ("small", "base", "none"),
    "view": SETTINGS["view"].choices,
    "vectors": SETTINGS["vectors"].choices,
    "strip_docs": (False, True),
}
# How it is searched.
SEARCH_VALUES: Mapping[str, Sequence[Any]] = {
    "query": (
        "parse a header",
        "task_7",
        "what calls task_7",
        '"return x"',
        "/ret.rn/ lang:python",
        "zzqx",
        "é" * 40,
    ),
    "mode": MODES,
    "fusion": FUSIONS,
    "lanes": ("", "keyword,embedding", "keyword,tfidf,embedding,graph"),
    "diversify": DIVERSIFY,
    "clustering": CLUSTERINGS,
    "fuzziness": FUZZINESS,
    "feedback": (True, False),
    "rerank": (False, True),
    "expand": (False, True),
    "min_score": (0.0, 0.5),
    "explain": (False, True),
    "k": (10, 0, 1, 1_000),
}
_TREES: Mapping[str, Mapping[str, str]] = {
    "empty": {},
    "blank": {"empty.py": "", "space.py": " \n\n"},
    "tiny": {"one.py": 'def parse_header(text):\n    """Parse a header."""\n    return text.split(":")\n'},
    "undocumented": {
        f"pkg{n % 4}/m{n}.py": "".join(
            f"def task_{i}(x):\n    return x + task_{i + 1}({i})\n\n\n" for i in range(5 * n, 5 * n + 5)
        )
        for n in range(12)
    },
}
KINDS = tuple(_TREES)
# A lane that raises is left out, and its exception named in words like these: a mistake of ours all the same.
_EXCEPTION = re.compile(r"\b\w+(Error|Exception|Warning): ")


def pairwise(values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return combinations in which each pair of values occurs, chosen greedily; the same ones every time."""
    missing = {
        ((a, x), (b, y))
        for a, b in itertools.combinations(values, 2)
        for x in range(len(values[a]))
        for y in range(len(values[b]))
    }
    rows = []
    while missing:
        first = min(missing)
        row = dict(first)
        for name in values:
            if name not in row:
                row[name] = max(range(len(values[name])), key=lambda n: _gain(row, name, n, missing))
        missing -= set(_pairs(row, values))
        rows.append({name: values[name][row[name]] for name in values})
    return rows


def _pairs(row: Mapping[str, int], names: Sequence[str] | Mapping[str, Any]) -> Iterator[Any]:
    for a, b in itertools.combinations((name for name in names if name in row), 2):
        yield (a, row[a]), (b, row[b])


def _gain(row: Mapping[str, int], name: str, value: int, missing: set[Any]) -> int:
    new = (name, value)
    return sum((other, new) in missing or (new, other) in missing for other in row.items())


def make_index(kind: str, folder: Path, values: Values) -> Index:
    """Build the index of a small tree."""
    root = folder / kind
    root.mkdir(exist_ok=True)
    if not any(root.iterdir()):
        write_tree(root, _TREES[kind])
    name = "-".join(map(str, values.values()))
    index = Index.open(root, index_dir=str(folder / f"{kind}-{name}"), refresh="never", **values)
    index.update()
    _record_feedback(index)
    return index


def _record_feedback(index: Index) -> None:
    """Record a choice for each query, so that feedback has an effect where it is on."""
    with index.backend.reader() as reader:
        rows = reader.lookup("*", 3)
    for query, row in itertools.product(SEARCH_VALUES["query"], rows):
        index.feedback.record(Event(query, row.key, "up", "test"))


def problem(index: Index, values: Values) -> str:
    """Search; return what reached the user that should not, "" for nothing."""
    options = dict(values)
    try:
        answer = index.search(options.pop("query"), **options)
    except (DowseError, QueryError) as error:
        return str(error) if _EXCEPTION.search(str(error)) or "\n" in str(error) else ""
    except Exception as error:
        return repr(error)
    return "; ".join(str(note) for note in answer.notes if _EXCEPTION.search(str(note)))
