"""docs/PYTHON.md and examples/ are run: as they stand there, with the packages that they are for."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from dowse import Index

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "PYTHON.md").read_text("utf-8")
RECIPES = re.findall(r"^## (.+?)$.*?^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
README = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture
def bakery_here(sample_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample, which is the current folder."""
    monkeypatch.chdir(sample_copy)
    monkeypatch.setenv("DOWSE_ENCODER", "small")
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    return sample_copy


def load(name: str, package: str) -> ModuleType:
    """Return an example; skip without the package that it is for, unless all are called for."""
    if importlib.util.find_spec(package) is None:
        if os.environ.get("DOWSE_REQUIRE_INTEGRATIONS") == "1":
            pytest.fail(f"{package} is not installed")
        pytest.skip(f"{package} is not installed; scripts/integrations installs it")
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(code: str, names: dict[str, object] | None = None) -> dict[str, object]:
    """Run a piece of a document, and return its names."""
    names = names if names is not None else {}
    exec(compile(code, "PYTHON.md", "exec"), names)
    return names


def test_the_readme_tells_what_it_does(bakery_here: Path, capsys: pytest.CaptureFixture[str]):
    (code,) = README
    index = run(code)["index"]
    assert isinstance(index, Index) and index.vectors.missing() == 0
    assert capsys.readouterr().out.startswith("src/bakery/orders.py 38 retry_with_backoff ")
    index.close()


def test_recipes_do_what_they_say(bakery_here: Path, capsys: pytest.CaptureFixture[str]):
    assert len(RECIPES) == 10
    names: dict[str, object] = {}
    printed: dict[str, str] = {}
    for title, code in RECIPES:
        run(code, names)
        printed[title] = capsys.readouterr().out
    assert printed["Index and search"].startswith("src/bakery/orders.py:38 retry_with_backoff ")
    assert (
        "def retry_with_backoff(action" in printed["Use an answer"]
        and "['retry_with" in printed["Use an answer"]
    )
    assert set(re.findall(r"'(.+?)'", printed["Narrow it down"])) == {"Oven", "Oven.Bake", "Oven.Preheat"}
    assert "(38, 'def retry_with_backoff(" in printed["Match lines"]
    assert "'demo'" in printed["Follow calls"] and "'tests/test_orders.py'" in printed["Follow calls"]
    assert str(names["prompt"]).count("orders.py")
    assert printed["Make a table"].startswith("src/bakery/orders.py 0.")
    index = names["index"]
    assert isinstance(index, Index) and index.vectors.missing() == 0
    assert names["hits"][0]["qualified_name"] == "parseCookieHeader"  # type: ignore[index]
    assert names["scores"][0, 0] > 0.3  # type: ignore[index]
    index.close()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_short(path: Path):
    assert len(path.read_text("utf-8").splitlines()) <= 30 and f"examples/{path.name}" in GUIDE


def test_langchain(bakery: Index):
    retriever = load("langchain_retriever", "langchain_core").DowseRetriever(index=bakery, k=3)
    documents = retriever.invoke("retry with backoff")
    assert len(documents) == 3 and documents[0].metadata["path"] == "src/bakery/orders.py"
    assert documents[0].page_content.startswith("def retry_with_backoff")
    assert asyncio.run(retriever.ainvoke("retry with backoff")) == documents


def test_llama_index(bakery: Index):
    retriever = load("llama_index_retriever", "llama_index").DowseRetriever(bakery, k=3)
    nodes = retriever.retrieve("retry with backoff")
    assert [node.score for node in nodes] == sorted((node.score for node in nodes), reverse=True)
    assert nodes[0].node.metadata["qualified_name"] == "retry_with_backoff"
    assert [node.node_id for node in asyncio.run(retriever.aretrieve("retry with backoff"))] == [
        node.node_id for node in nodes
    ]


def batches(*texts: str) -> Iterator[dict[str, list[str]]]:
    """Give texts as mteb does: in batches."""
    yield from ({"text": [text]} for text in texts)


def test_mteb():
    """By the protocol that mteb documents; mteb itself needs PyTorch."""
    model = load("mteb_encoder", "numpy").DowseModel("small")
    where = {"task_metadata": None, "hf_split": "test", "hf_subset": "default"}
    codes = ("def add(a, b): return a + b", "def read(path): return open(path).read()")
    documents = model.encode(batches(*codes), prompt_type="document", batch_size=8, **where)
    queries = model.encode(batches("sum of numbers", "contents of a file"), prompt_type="query", **where)
    scores = model.similarity(queries, documents)
    assert scores.shape == (2, 2) and scores.argmax(axis=1).tolist() == [0, 1]
    assert np.allclose(model.similarity_pairwise(queries, documents), np.diag(scores), atol=1e-6)
    assert model.encode(batches("a"), prompt_type=None, **where).shape == (1, queries.shape[1])
    if importlib.util.find_spec("mteb"):
        from mteb.models import EncoderProtocol

        assert isinstance(model, EncoderProtocol)


def test_data_frames(bakery: Index):
    load("mteb_encoder", "pandas")
    answer = bakery.search("retry with backoff", k=3)
    frame = answer.to_frame()
    assert list(frame["rank"]) == [1, 2, 3] and list(frame.columns) == list(answer.to_dicts()[0])


def test_a_notebook_shows_progress_and_answers(bakery_here: Path):
    load("mteb_encoder", "nbclient")
    load("mteb_encoder", "ipykernel")
    import nbformat
    from nbclient import NotebookClient

    cells = [
        "from dowse import Index\nindex = Index.open('.')\nreport = index.update()",
        "index.search('retry')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    progress, (shown,) = (cell["outputs"] for cell in notebook["cells"])
    drawn = "".join(each["text"] for each in progress if each["name"] == "stderr")
    assert "indexing ███" in drawn and "embedding ███" in drawn
    assert "<details" in shown["data"]["text/html"] and "retry_with_backoff" in shown["data"]["text/html"]
