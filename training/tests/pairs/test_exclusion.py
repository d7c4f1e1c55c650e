"""What is evaluated on never comes out, however it is spelled, wrapped or cut."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import DowseError
from dowse.eval.mine.doc_pairs import Candidate
from dowse_training.pairs.duplicates import Duplicates
from dowse_training.pairs.exclusion import (
    CODE_EXCLUDED,
    DOC_EXCLUDED,
    first_paragraph,
    make_exclusion,
    merge,
    read_exclusion,
    text_hash,
)
from dowse_training.pairs.mine import new_pairs
from dowse_training.pairs.model import MinedPackage
from dowse_training.pairs.output import Statistics
from dowse_training.pairs.package import Wanted

# Made with coreutils, not with this code: printf %s defaddabreturnab | sha1sum | cut -c1-16, where
# everything but letters, digits and underscores was taken out of the text by hand.
KNOWN_HASHES = {
    "def add(a, b):\n    return a + b": "9740f5b4018d8d87",
    "Return the sum of two numbers.": "882e77391daabc87",
    "": "da39a3ee5e6b4b0d",
    "snake_case stays; Ünïcödé letters do too": "b6a83f3dc7da6167",
}


@pytest.mark.parametrize(("text", "expected"), KNOWN_HASHES.items())
def test_hashes_agree_with_the_documented_definition(text, expected):
    assert text_hash(text) == expected


@pytest.mark.parametrize(
    "spelling",
    [
        "def add(a,b): return a+b",
        "def add(a, b):\n\n\n\treturn (a + b)",
        "DEF ADD(A, B):\r\n    RETURN A + B;",
    ],
)
def test_layout_and_case_do_not_matter(spelling):
    assert text_hash(spelling) == text_hash("def add(a, b):\n    return a + b")


def test_words_do_matter():
    assert text_hash("return a + b") != text_hash("return a + c")


@pytest.mark.parametrize(
    ("doc", "paragraph"),
    [
        ("One line.", "One line."),
        ("  First\nstill first.\n\nSecond.", "First\nstill first."),
        ("First.\n \t\nSecond.", "First."),
        ("First.\r\n\r\nSecond.", "First."),
        ("", ""),
    ],
)
def test_the_first_paragraph_ends_at_an_empty_line(doc, paragraph):
    assert first_paragraph(doc).strip() == paragraph


LISTED = make_exclusion(["psf/Requests", "someone/py_thing", "moby/moby"], [], [])


@pytest.mark.parametrize(
    "name",
    [
        "requests",
        "Requests",
        "psf/requests",
        "python3-requests",
        "python-requests",
        "requests-python",
        "librust-requests-dev",
        "golang-github-someone-requests-dev",
        "@scope/requests",
        "org.group:requests",
        "py-thing",
        "py.thing",
        "PY__THING",
        "node-moby",
        "requests-2.31.0",
        "requests-v1",
    ],
)
def test_a_listed_repository_is_known_under_the_names_of_registries(name):
    assert LISTED.has_name([name])


@pytest.mark.parametrize("name", ["requests2", "requests-oauthlib", "psf", "grequests", "thing", ""])
def test_other_names_are_not_taken_for_it(name):
    assert not LISTED.has_name([name])


@pytest.mark.parametrize("path", ["requests/api.py", "deps/Requests/a/api.py", "x/py-thing/a.py"])
def test_a_copy_of_a_listed_repository_is_known_by_its_folder(path):
    assert LISTED.has_folder(path)


@pytest.mark.parametrize("path", ["requests.py", "src/requests", "my_requests/a.py"])
def test_files_of_that_name_are_no_copies(path):
    assert not LISTED.has_folder(path)


def test_any_of_several_names_is_enough():
    assert LISTED.has_name(["harmless", "requests"])


def test_lists_are_read_gzipped_or_plain(tmp_path):
    content = json.dumps({"repos": ["a/name"], "code_sha1": ["c" * 16], "doc_sha1": ["d" * 16]})
    (tmp_path / "plain.json").write_text(content)
    (tmp_path / "packed.json.gz").write_bytes(gzip.compress(content.encode()))
    plain = read_exclusion(tmp_path / "plain.json")
    assert plain == read_exclusion(tmp_path / "packed.json.gz")
    assert (plain.names, plain.code, plain.docs) == ({"name"}, {"c" * 16}, {"d" * 16})


@pytest.mark.parametrize("content", [None, b"", b"{}", b"[1]", b"\x1f\x8bxx", b'{"repos": 1}'])
def test_a_list_that_cannot_be_read_is_an_error_never_an_empty_list(tmp_path, content):
    path = tmp_path / "list.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DowseError, match="not an exclusion list"):
        read_exclusion(path)


def test_merged_lists_hold_everything():
    merged = merge([make_exclusion(["a/b"], ["1"], []), make_exclusion(["c/d"], [], ["2"])])
    assert merged == make_exclusion(["x/b", "y/d"], ["1"], ["2"])
    assert merge([]) == make_exclusion([], [], [])


words = st.lists(st.sampled_from("alpha beta gamma delta x1 _y return if".split()), min_size=1, max_size=12)
joints = st.sampled_from([" ", "  ", "\n    ", " ( ", "); ", " == ", "\t"])


@st.composite
def text_and_respelling(draw):
    """The same words joined and cased in two ways."""
    chosen = draw(words)
    first, second = ("".join(word + draw(joints) for word in chosen) for _ in range(2))
    return first, second.upper() if draw(st.booleans()) else second


decorations = st.sampled_from(
    ["", "@cached\n", "@route('/x')\n@login_required\n", "#[inline]\n", "// note\n"]
)


@given(text_and_respelling(), decorations)
def test_listed_code_is_found_in_any_layout_and_with_decorators(texts, decoration):
    listed, written = texts
    assert make_exclusion([], [text_hash(listed)], []).has_code(decoration + written)


@given(text_and_respelling(), st.sampled_from(["", "\n\nMore follows.", "\n  \n:param x: it"]))
def test_listed_documentation_is_found_whatever_follows_its_first_paragraph(texts, rest):
    listed, written = (text.replace("\n", " ") for text in texts)
    assert make_exclusion([], [], [text_hash(listed)]).has_doc(written + rest)


candidates = st.builds(
    Candidate,
    language=st.just("python"),
    path=st.just("a.py"),
    name=st.just("f"),
    qualified_name=st.just("f"),
    signature=st.just("f()"),
    doc=text_and_respelling().map(lambda texts: texts[0] + "\n\nand more"),
    written_doc=st.just(""),
    code=st.one_of(text_and_respelling().map(lambda texts: texts[0]), words.map(lambda w: " ".join(w * 500))),
)


@given(st.lists(candidates, max_size=8), st.data())
def test_no_listed_pair_is_ever_emitted(found, data):
    """Whatever is listed: code as the worker saw it is judged there, what is written is judged here."""
    chosen = data.draw(st.lists(st.sampled_from(found), max_size=4)) if found else []
    code = {text_hash(c.code[:1_600]) for c in chosen[:2]}
    docs = {text_hash(first_paragraph(c.doc)) for c in chosen[2:]}
    wanted = Wanted(frozenset({"python"}), 100, make_exclusion([], code, docs))
    statistics = Statistics()
    mined = MinedPackage("local", "p", "1", "", tuple(found), {})
    pairs = [pair for _, pair in new_pairs(mined, wanted, Duplicates(), statistics.dropped)]
    assert not {text_hash(pair.code) for pair in pairs} & code
    assert not {text_hash(first_paragraph(pair.doc)) for pair in pairs} & docs
    dropped = statistics.dropped
    assert len(pairs) + sum(dropped.values()) == len(found)
    listed = any(
        text_hash(c.code[:1_600]) in code or text_hash(first_paragraph(c.doc)) in docs for c in found
    )
    assert not listed or dropped["python", CODE_EXCLUDED] + dropped["python", DOC_EXCLUDED] > 0
