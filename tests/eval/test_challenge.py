"""The CodeSearchNet challenge: judgements find the functions of a corpus by url, grades are averaged."""

import json

import pytest

from dowse.errors import EvalError
from dowse.eval.datasets import load_datasets
from dowse.eval.datasets.codesearchnet import plain_url

URL = "https://github.com/o/r/blob/abc/p/{}.py#L10-L20"
HEADER = "Language,Query,GitHubUrl,Relevance,Notes"
ROWS = (
    f'Python,priority queue,{URL.format("a")},3,"good, if long"',
    f"Python,Priority Queue,{URL.format('a')},2,",
    f"Python,priority queue,{URL.format('b')},0,",
    f"Python,read csv,{URL.format('b')},1,",
    f"Python,read csv,{URL.format('elsewhere')},3,",
    f"Go,read csv,{URL.format('c')},2,",
    f"Go,sort,{URL.format('elsewhere')},2,",
)


@pytest.fixture
def challenge(tmp_path):
    """The two files, as they are published: lines of the annotations end the way of Windows."""
    (tmp_path / "queries.csv").write_text("query\nsort\npriority queue\nread csv\n")
    (tmp_path / "annotationStore.csv").write_bytes("\r\n".join([HEADER, *ROWS, ""]).encode())
    return tmp_path


@pytest.fixture
def corpus(tmp_path_factory):
    """Functions whose urls are written in several ways."""
    urls = {
        "a": URL.format("a"),
        "b": "http://www.github.com/o/r/blob/abc/p/b.py#L10-20",
        "c": URL.format("c"),
    }
    rows = [
        {"_id": name, "text": "def f(): pass", "metadata": {"url": url, "language": "python"}}
        for name, url in urls.items()
    ]
    return written(tmp_path_factory.mktemp("corpus") / "corpus.jsonl", rows)


def written(place, rows):
    place.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return place


def test_grades_are_means_and_zeros_stay(challenge, corpus):
    (found,) = load_datasets(challenge, root=corpus)
    assert (found.name, found.level, found.metric) == ("csn-challenge", "symbol", "ndcg@10")
    assert (found.root, found.strip_docs) == (corpus, False)
    assert {case.query: case.symbols for case in found.cases} == {
        "priority queue": {"a": 2.5, "b": 0},
        "read csv": {"b": 1, "c": 2},
    }
    assert [case.id for case in found.cases] == ["q2", "q3"]  # by their place in queries.csv
    assert {path.name for path in found.files} == {"queries.csv", "annotationStore.csv"}


def test_it_wants_a_corpus_with_urls_of_judged_functions(challenge, tmp_path_factory):
    folder = tmp_path_factory.mktemp("other")
    with pytest.raises(EvalError, match="name the corpus"):
        load_datasets(challenge)
    with pytest.raises(EvalError, match=r'have no urls.*"func_code_url"'):
        load_datasets(challenge, root=written(folder / "x.jsonl", [{"code": "def f(): pass"}]))
    other = [{"code": "def f(): pass", "url": "https://github.com/x/y/blob/z/q.py#L1-L2"}]
    with pytest.raises(EvalError, match="none of the functions that were judged"):
        load_datasets(challenge, root=written(folder / "y.jsonl", other))


def test_broken_tables_are_told(challenge, corpus):
    table = challenge / "annotationStore.csv"
    table.write_text(f"{HEADER}\n{ROWS[0]}\nPython,sort,{URL.format('a')},often,\n")
    with pytest.raises(EvalError, match=r"annotationStore\.csv:3: relevance goes from 0 to 3, not 'often'"):
        load_datasets(challenge, root=corpus)
    table.write_text("Language,Query,Url\nPython,sort,x\n")
    with pytest.raises(EvalError, match=r"annotationStore\.csv: no column githuburl, relevance"):
        load_datasets(challenge, root=corpus)
    table.write_text(f"{HEADER}\n{ROWS[0]}\n")
    (challenge / "queries.csv").unlink()
    with pytest.raises(EvalError, match=r"queries\.csv can't be read"):
        load_datasets(challenge, root=corpus)


@pytest.mark.parametrize(
    "url",
    [
        "http://github.com/o/r/blob/abc/a%20b.py#L10-L20",
        "https://www.GitHub.com/o/r/blob/abc/a b.py#L10-20",
        "https://github.com/o/r/blob/abc/a b.py#L10:L20",
        " https://github.com/o/r/blob/abc/a%20b.py?plain=1#L10C1-L20C9\n",
    ],
)
def test_spellings_of_one_url(url):
    assert plain_url(url) == "github.com/o/r/blob/abc/a b.py#L10-L20"
