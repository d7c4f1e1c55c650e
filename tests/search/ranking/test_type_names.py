# ruff: noqa: E501 - sources of one line each
"""The bare name of a type: the type, its constructors, its members, then what uses it; in every language."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Index
from dowse.search.ranking.signals import RankedHit
from dowse.search.ranking.type_names import types_first
from dowse.types import Contribution, SymbolRow

from helpers import write_tree

# In each file a type whose constructor or first member says its name more often than the type itself.
TYPES = {
    "A.java": "class Limiter {\n  private int n;\n  Limiter(Limiter limiter) { this.n = limiter.n; }\n  int take() { return n; }\n}\n",
    "a.cs": "class Limiter {\n  private int n;\n  public Limiter(Limiter limiter) { n = limiter.n; }\n  int Take() { return n; }\n}\n",
    "a.kt": "class Limiter(val n: Int) {\n  constructor(limiter: Limiter) : this(limiter.n)\n  fun take(): Int { return n }\n}\n",
    "a.ts": "export class Limiter {\n  n: number;\n  constructor(limiter: Limiter) { this.n = limiter.n; }\n  take() { return this.n; }\n}\n",
    "a.py": "class Limiter:\n    n = 1\n\n    def __init__(self, limiter: 'Limiter'):\n        self.n = limiter.n\n\n    def take(self):\n        return self.n\n",
    "a.cpp": "class Limiter;\n\nclass Limiter {\n public:\n  Limiter(Limiter* limiter) { n = limiter->n; }\n  int take() { return n; }\n  int n;\n};\n",
    "a.go": "package a\n\ntype Limiter struct {\n\tn int\n}\n\nfunc NewLimiter(limiter Limiter) Limiter {\n\treturn Limiter{limiter.n}\n}\n\nfunc (l Limiter) Take() int { return l.n }\n",
    "a.rs": "pub struct Limiter {\n    n: i32,\n}\n\nimpl Limiter {\n    pub fn new(limiter: Limiter) -> Limiter {\n        Limiter { n: limiter.n }\n    }\n\n    pub fn take(&self) -> i32 {\n        self.n\n    }\n}\n",
    "a.php": "<?php\nclass Limiter {\n  public $n;\n  function __construct(Limiter $limiter) { $this->n = $limiter->n; }\n  function take() { return $this->n; }\n}\n",
    "a.rb": "class Limiter\n  LIMIT = 1\n\n  def initialize(limiter)\n    @n = limiter.n\n  end\n\n  def take\n    @n\n  end\nend\n",
}
CONSTRUCTORS = {"Limiter", "__init__", "__construct", "constructor", "new", "initialize", "NewLimiter"}


@pytest.mark.parametrize("path", TYPES)
def test_the_type_then_its_constructor_then_its_members(tmp_path, path):
    uses = {
        f"uses/u{n}{path[path.rindex('.') :]}": TYPES[path].replace("Limiter", f"Limiter{n}User")
        for n in range(3)
    }
    root = write_tree(tmp_path / "tree", {f"src/{path}": TYPES[path], **uses})
    with Index.open(root, encoder="none") as index:
        index.update()
        hits = [hit.symbol for hit in index.search("Limiter", 50)]
    own = [
        symbol for symbol in hits if symbol.path == f"src/{path}" and symbol.kind not in ("module", "impl")
    ]
    assert own[0] == hits[0] and hits[0].name == "Limiter" and hits[0].kind in ("class", "struct")
    # Kotlin's constructors are part of the class.
    assert path == "a.kt" or own[1].name in CONSTRUCTORS
    assert own[-1].name.lower() == "take"


def test_a_type_is_found_even_if_hundreds_of_symbols_say_its_name_more_often(tmp_path):
    users = "".join(
        f"    def limiter_{n}(limiter: Limiter, other: Limiter): return Limiter(limiter)\n"
        for n in range(300)
    )
    tree = {
        "src/core/base.py": "class Limiter:\n    " + "x = 1\n    " * 300 + "\n",
        "src/uses.py": f"class Uses:\n{users}",
    }
    with Index.open(write_tree(tmp_path / "tree", tree), encoder="none") as index:
        index.update()
        first = index.search("Limiter").hits[0]
    assert (first.symbol.path, first.symbol.kind) == ("src/core/base.py", "class")
    assert sum(part.value for part in first.explanation) == pytest.approx(first.score)


def test_own_code_before_tests_and_bodies_before_forward_declarations(tmp_path):
    body = "struct Pool {\n  int size;\n  int used;\n};\n"
    tree = {
        "tests/pool.cpp": "// Pool pool Pool\nstruct Pool { int Pool_size; };\n",
        "include/fwd.h": "struct Pool;\nint use(struct Pool* pool);\n",
        "src/pool.h": body,
        "examples/pool.cpp": body,
    }
    with Index.open(write_tree(tmp_path / "tree", tree), encoder="none") as index:
        index.update()
        hits = [hit.symbol.path for hit in index.search("Pool", 10)]
        in_tests = [hit.symbol.path for hit in index.search("Pool path:tests", 10)]
    assert hits[0] == "src/pool.h"
    assert set(in_tests) == {"tests/pool.cpp"}, "filters hold for symbols that are looked up, too"


KINDS = ("class", "struct", "function", "method", "module", "impl", "section")
NAMES = ("A", "A.A", "A.run", "A.__init__", "B", "B.A", "run", "n.A")
drawn_hits = st.lists(
    st.tuples(
        st.sampled_from(KINDS), st.sampled_from(NAMES), st.sampled_from(["", "test"]), st.floats(0, 10)
    ),
    max_size=15,
)


@given(drawn_hits)
def test_nothing_is_lost_and_scores_explain_the_order(drawn):
    hits = [
        RankedHit(
            SymbolRow(
                n,
                str(n),
                "",
                f"{n}.py",
                "python",
                role,
                kind,
                name.rpartition(".")[2],
                name,
                n,
                n + n % 2,
                "",
                n,
            ),
            score,
            [Contribution("keyword", score)],
        )
        for n, (kind, name, role, score) in enumerate(sorted(drawn, key=lambda each: -each[3]))
    ]
    ordered = types_first(hits, "A")
    assert sorted(hit.row.row for hit in ordered) == list(range(len(hits)))
    assert all(a.score >= b.score for a, b in itertools.pairwise(ordered))
    assert all(sum(part.value for part in hit.contributions) == pytest.approx(hit.score) for hit in ordered)
    own_types = [
        hit
        for hit in hits
        if hit.row.name == "A" and hit.row.kind in ("class", "struct") and not hit.row.role
    ]
    if own_types:
        assert (
            ordered[0].row.kind in ("class", "struct")
            and ordered[0].row.name == "A"
            and not ordered[0].row.role
        )
