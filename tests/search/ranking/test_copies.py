"""Built and vendored copies give way to their source, which lists them."""

from __future__ import annotations

import pytest

from dowse import Index

from helpers import write_tree

SOURCE = """import { clamp } from './math.js';

// Wait until calls stop for a while, then call once.
export default function debounce(callback, delay) {
  const timer = { id: 0 };
  return (...args) => {
    clearTimeout(timer.id);
    timer.id = setTimeout(() => callback(...args), clamp(delay, 0, 10000));
  };
}
"""
BUNDLE = """(function (global, factory) {
  typeof exports === 'object' && typeof module !== 'undefined' ? factory(exports) : factory(global);
}(this, function (exports) {
  // Wait until calls stop for a while, then call once.
  function debounce$1(callback, delay) {
    var timer = { id: 0 };
    return (...args) => {
      clearTimeout(timer.id);
      timer.id = setTimeout(() => callback(...args), clamp(delay, 0, 10000));
    };
  }
  function clamp(value, low, high) {
    return Math.min(high, Math.max(low, value));
  }
  exports.debounce = debounce$1;
}));
"""
PLAIN_COPY = SOURCE.replace("import { clamp } from './math.js';\n\n", "").replace("export default ", "")
OTHER = "export function debounce(event) {\n  event.preventDefault();\n  return queue.push(event);\n}\n"
TREE = {
    "src/debounce.js": SOURCE,
    "umd.js": BUNDLE,
    "dist/all.js": PLAIN_COPY,
    "vendor/x/debounce.js": PLAIN_COPY,
}


@pytest.fixture
def index(tmp_path):
    with Index.open(write_tree(tmp_path / "tree", TREE), encoder="none") as index:
        index.update()
        yield index


@pytest.mark.parametrize("query", ["debounce", "wait until calls stop", "call once after delay timer"])
def test_copies_are_listed_at_the_source(index, query):
    hits = index.search(query).hits
    functions = [
        hit for hit in hits if hit.symbol.name.startswith("debounce") and hit.symbol.kind == "function"
    ]
    assert [hit.symbol.path for hit in functions] == ["src/debounce.js"]
    assert [path for path, _ in functions[0].also_in] == ["dist/all.js", "umd.js", "vendor/x/debounce.js"]
    assert all(line > 0 for _, line in functions[0].also_in)
    assert functions[0] is hits[0]
    for hit in hits:
        assert sum(part.value for part in hit.explanation) == pytest.approx(hit.score)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_copies_that_are_asked_for_stay(index):
    for query in ("debounce path:vendor", "vendored debounce"):
        assert any(hit.symbol.path.startswith("vendor/") for hit in index.search(query).hits)
    assert not any(hit.also_in for hit in index.search("debounce path:dist").hits)


def test_copies_without_a_source_collapse_to_one(tmp_path):
    tree = {path: text for path, text in TREE.items() if not path.startswith("src/")}
    with Index.open(write_tree(tmp_path / "tree", tree), encoder="none") as index:
        index.update()
        hits = [hit for hit in index.search("debounce").hits if hit.symbol.kind == "function"]
    hits = [hit for hit in hits if hit.symbol.name.startswith("debounce")]
    assert len(hits) == 1 and len(hits[0].also_in) == 2


def test_namesakes_with_other_text_and_other_scopes_stay(tmp_path):
    method = "  static get name() {\n    return NAME;\n  }\n"
    tree = {
        "src/debounce.js": SOURCE,
        "vendor/queue.js": OTHER,
        "src/alert.js": f"export class Alert {{\n{method}}}\n",
        "dist/button.js": f"class Button {{\n{method}}}\n",
    }
    with Index.open(write_tree(tmp_path / "tree", tree), encoder="none") as index:
        index.update()
        assert {hit.symbol.path for hit in index.search("debounce").hits} >= {
            "src/debounce.js",
            "vendor/queue.js",
        }
        assert not any(hit.also_in for query in ("debounce", "name") for hit in index.search(query).hits)


def test_a_source_that_no_lane_found_takes_the_place_of_its_copy(tmp_path):
    bare = SOURCE.replace("// Wait until calls stop for a while, then call once.\n", "")
    copy = PLAIN_COPY.replace("// Wait", "// Throttle a burst of events: wait")
    tree = {"src/debounce.js": bare, "dist/all.js": copy, "src/other.js": OTHER.replace("debounce", "other")}
    with Index.open(write_tree(tmp_path / "tree", tree), encoder="none") as index:
        index.update()
        (hit,) = index.search("throttle burst").hits
    assert hit.symbol.path == "src/debounce.js" and [path for path, _ in hit.also_in] == ["dist/all.js"]
    assert [part.source for part in hit.explanation] == ["signal.source"]
