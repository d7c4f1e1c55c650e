"""The Python API: what a user of `Index` sees, types, gets and waits for."""

from __future__ import annotations

import asyncio
import inspect
import io
import re
import subprocess
import sys
import threading
import typing
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dowse import Answer, AsyncIndex, DowseError, Index, Settings, deadline, load_encoder
from dowse.errors import Cancelled
from dowse.index.graph import Graph
from dowse.index.vectors import Vectors
from dowse.indexing.update import Progress
from dowse.search.options import SearchOptions

from helpers import index_tree, write_tree

FILES = {f"m{n}.py": f'def job_{n}(x):\n    """Run job {n}."""\n    return x + {n}\n' for n in range(4)}
HOSTILE = 'def parse_order(x):\n    return "<script>alert(1)</script>\u202e&\x1b[31m" if x < 3 else x\n'


@pytest.fixture
def answer(sample_index: Index) -> Answer:
    return sample_index.search("parse order", k=4)


# What is shown


def test_an_index_shows_few_names():
    names = [name for name in dir(Index) if not name.startswith("_")]
    names += [name for name in ("root", "settings", "backend") if name not in names]
    assert len(names) <= 20, names
    assert {"open", "update", "search", "context", "graph", "contents", "vectors"} <= set(names)
    assert all(inspect.getdoc(getattr(Index, name, None)) for name in names if hasattr(Index, name))


@pytest.mark.parametrize(
    ("method", "declared", "own"),
    [
        (Index.open, Settings, {"path"}),
        (Index.search, SearchOptions, {"self", "query", "embed"}),
    ],
)
def test_keywords_are_the_declared_options(method, declared, own):
    """Each is typed; a new setting or option that is missing here would be refused."""
    parameters = inspect.signature(method).parameters
    assert set(parameters) - own == set(declared.__dataclass_fields__)
    assert all(each.kind is not inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    assert all("Any" not in str(each.annotation) for each in parameters.values())


@pytest.mark.parametrize("method", [Index.update, Index.context, Vectors.embed, Graph.callers])
def test_no_method_takes_just_any_keyword(method):
    kinds = {each.kind for each in inspect.signature(method).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


TYPED = """
from dowse import AsyncIndex, Index, load_encoder
index = Index.open(".", encoder="small", refresh="never")
reveal_type(index.search)
answer = index.search("words", mode="hybrid", lang=["go"])
reveal_type(answer[0])
reveal_type(answer[:2])
reveal_type(answer.to_dicts())
reveal_type(index.graph.callers("f"))
reveal_type(index.update(embed=False).embedding)
reveal_type(load_encoder("small").encode_queries)
async def serve() -> None:
    reveal_type(await AsyncIndex(index).search("words", k=3))
    await AsyncIndex(index).search("words", kk=3)  # error
index.search("words", fusion="blended")  # error
index.search("words", colour=True)  # error
Index.open(".", encoder=1)  # error
"""


def test_a_type_checker_knows_everything(tmp_path: Path):
    file = tmp_path / "typed.py"
    file.write_text(TYPED)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--cache-dir",
        str(tmp_path),
        str(file),
    ]
    source = Path(typing.cast("str", sys.modules["dowse"].__file__)).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=source, check=False)
    shown = done.stdout.replace("builtins.", "")
    for expected in (
        "diversify: Literal['']",
        '"dowse.types.Hit"',
        '"tuple[dowse.types.Hit, ...]"',
        '"list[dict[str, Any]]"',
        '"dowse.graph.model.GraphAnswer"',
        '"dowse.indexing.embed.EmbedReport | None"',
        '"def (texts: typing.Sequence[str])',
        '"dowse.answer.Answer"',
    ):
        assert expected in shown
    lines = [number for number, line in enumerate(TYPED.splitlines(), 1) if line.endswith("# error")]
    assert [int(found) for found in re.findall(r"typed\.py:(\d+): error", shown)] == lines, shown


# An answer


def test_an_answer_is_a_sequence(answer: Answer):
    hits = list(answer)
    assert len(answer) == len(hits) == 4 and answer
    assert answer[0] is hits[0] and answer[-1] is hits[-1]
    assert answer[1:3] == tuple(hits[1:3]) and hits[2] in answer and answer.index(hits[2]) == 2
    with pytest.raises(IndexError):
        answer[4]


def test_an_answer_without_hits_is_false(sample_index: Index):
    assert not sample_index.search("/no such line/") and sample_index.search("/def /")


def test_an_answer_becomes_dictionaries(answer: Answer):
    first = answer.to_dicts()[0]
    assert (first["rank"], first["path"]) == (1, answer[0].symbol.path)
    assert first["start_line"] == answer[0].symbol.start_line and first["code"] == answer[0].symbol.code


def test_a_frame_needs_pandas(answer: Answer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(DowseError, match="pip install pandas"):
        answer.to_frame()


class _Page(HTMLParser):
    """The tags of a page, its text, and what is marked in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text, self.marked = "", list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert {name for name, _ in attrs} <= {"style"}
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.tags[-1] == "mark":
            self.marked.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "mark":
            self.tags.append("end")


def test_a_notebook_shows_code_and_reasons(answer: Answer):
    page = _Page(answer._repr_html_())
    assert f"{answer[0].symbol.path}:{answer[0].symbol.start_line}" in page.text
    assert "def parse_order(text):" in page.text and "parse_order" in page.marked
    largest = max(answer[0].explanation, key=lambda part: abs(part.value))
    assert largest.source in page.text and "details" in page.tags


def test_a_notebook_marks_the_matches_of_a_pattern(sample_index: Index):
    assert "retry_with" in _Page(sample_index.search("/retry_with/")._repr_html_()).marked


def test_a_notebook_shows_hostile_code_as_text(tmp_path: Path):
    with index_tree(tmp_path / "<b>evil", {"<img src=x>.py": HOSTILE}) as index:
        for query in ("parse order", "/alert/"):
            shown = index.search(query)._repr_html_()
            page = _Page(shown)
            assert {"script", "img", "b"} & set(page.tags) <= {"b"} and "<img src=x>.py" in page.text
            assert "<script>alert(1)</script>" in page.text and "\u202e" not in shown and "\x1b" not in shown


def test_no_answer_is_shown_as_such(sample_index: Index):
    assert "no hits" in sample_index.search("/no such line/")._repr_html_()


# Updates and vectors


def make_index(place: Path, **settings: str) -> Index:
    root = write_tree(place / "code", FILES)
    return Index.open(root, index_dir=str(place / "index"), encoder="small", threads=1, **settings)


def test_an_update_embeds_too(tmp_path: Path):
    units: list[Progress] = []
    with make_index(tmp_path) as index:
        report = index.update(on_progress=units.append)
        assert (
            report.embedding
            and report.embedding.encoded + report.embedding.reused == index.status()["symbols"] == 4
        )
        assert index.vectors.missing() == 0 and index.graph.is_linked
        assert [each.unit for each in units] == ["files"] * 4 + ["symbols"]
        again = index.update()
        assert not again.wrote and again.embedding and again.embedding.encoded == 0


def test_an_update_can_leave_the_vectors_to_a_search(tmp_path: Path):
    with make_index(tmp_path) as index:
        assert index.update(embed=False).embedding is None and index.vectors.missing() == 4
        assert index.search("job", mode="keyword") and index.search("/job/") and index.vectors.missing() == 4
        as_it_is = index.search("run a job", embed=False)
        assert [note.code for note in as_it_is.notes] == ["partly-embedded"]
        assert index.search("run a job").notes == () and index.vectors.missing() == 0


def test_what_is_similar_is_embedded_first(tmp_path: Path):
    with make_index(tmp_path) as index:
        index.update(embed=False)
        assert len(index.related("job_1", k=3).neighbours) == 3


def test_an_update_without_an_encoder_is_words(tmp_path: Path):
    with index_tree(tmp_path / "code", FILES, encoder="none") as index:
        assert index.update().embedding is None and index.search("run job")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_in_a_terminal_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for stream, drawn in ((_Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with make_index(tmp_path) as index:
            index.update(rebuild=True)
        shown = stream.getvalue()
        assert ("4/4 files" in shown) is ("symbols" in shown) is drawn


def test_paths_are_settings_too(tmp_path: Path):
    root = write_tree(tmp_path / "code", FILES)
    with Index.open(root, index_dir=tmp_path / "i") as index:
        index.update()
        assert (tmp_path / "i" / "catalog.sqlite").exists()


# Servers


def test_an_asynchronous_index_answers(sample_index: Index):
    async def ask() -> tuple[Answer, list[str]]:
        index = AsyncIndex(sample_index)
        answer = await index.search("parse order", k=4)
        callers = await index.run(lambda it: it.graph.callers("orders.parse_order"))
        return answer, [step.symbol.name for step in callers]

    answer, names = asyncio.run(ask())
    assert answer == sample_index.search("parse order", k=4) and "demo" in names


def test_work_ends_when_its_caller_is_cancelled(sample_index: Index):
    """The event loop goes on at once, the thread at its next check."""
    began, ended = threading.Event(), threading.Event()

    def work(index: Index) -> None:
        try:
            while True:
                began.set()
                deadline.check()
        except Cancelled:
            ended.set()
            raise

    async def ask() -> None:
        task = asyncio.ensure_future(AsyncIndex(sample_index).run(work))
        while not began.is_set():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(ask())
    assert ended.wait(30)


def test_the_deadline_of_the_caller_holds(sample_index: Index):
    async def ask() -> None:
        with deadline.time_limit(0.0):
            await AsyncIndex(sample_index).search("/def/")

    with pytest.raises(DowseError, match="no answer within"):
        asyncio.run(ask())


def test_an_update_that_is_cancelled_leaves_the_index_as_it_was(tmp_path: Path):
    with index_tree(tmp_path / "code", FILES) as index:
        before = index.status()["generation"]
        (tmp_path / "code" / "new.py").write_text("def new(): ...\n")
        limit = deadline.Deadline()
        limit.cancel()
        with deadline.within(limit), pytest.raises(Cancelled):
            index.update()
        assert index.status()["generation"] == before and index.update().added == 1


# Encoders


def test_texts_are_encoded_as_code_and_as_questions():
    encoder = load_encoder("small")
    codes = encoder.encode_documents(
        ["def add(a, b): return a + b", "def read(path): return open(path).read()"]
    )
    questions = encoder.encode_queries(["sum of two numbers", "contents of a file"])
    assert codes.shape == questions.shape == (2, encoder.dimension)
    assert (questions @ codes.T).argmax(axis=1).tolist() == [0, 1]
