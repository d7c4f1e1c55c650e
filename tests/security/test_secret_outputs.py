"""No output shows a likely secret unless the user asks for it; every answer says that it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dowse import Index
from dowse.eval.judge.pool import read_lines_of
from dowse.eval.types import SearchResult
from dowse.history.subjects import query_from_subject
from dowse.interfaces.cli.main import main
from dowse.interfaces.mcp.arguments import (
    SEARCH_MODEL,
    GraphArguments,
    RelatedArguments,
    SymbolArguments,
)
from dowse.interfaces.mcp.readiness import Call
from dowse.interfaces.mcp.reply import ToolContext
from dowse.interfaces.mcp.repositories import Repositories
from dowse.interfaces.mcp.search_tools import related, search
from dowse.interfaces.mcp.symbol_tools import graph, symbol
from dowse.security import secret_masking as secrets_mask
from dowse.security.secret_patterns import compile_prefilter
from interfaces.http.running import running
from secret_samples import password, private_key, tokens

from helpers import write_tree

GITHUB, STRIPE, DIGITALOCEAN = ("".join(tokens()[name]) for name in ("github", "stripe", "digitalocean"))
PASSWORD, DEFAULT = password(1), password(2)
KEY, KEY_LINES = private_key()
SECRETS = [GITHUB, STRIPE, DIGITALOCEAN, PASSWORD, DEFAULT, *KEY_LINES]
# Pieces of them that words and terms could be made of.
PIECES = [secret[at : at + 12] for secret in SECRETS for at in range(8, len(secret) - 12, 12)]
TREE = {
    "app.py": f'''"""Deploys the warehouse."""

DEPLOY_TOKEN = "{GITHUB}"
SIGNING = """{KEY}"""


def connect_warehouse(host, password="{DEFAULT}"):
    """Open the warehouse.

    In a hurry use {STRIPE} instead.
    """
    return host, password, "{DIGITALOCEAN}"


class Warehouse:
    """All that is stored."""

    def restock(self):
        """Restock the warehouse."""
        return connect_warehouse("db", password="{PASSWORD}")


def nightly_restock():
    """Restock the warehouse every night."""
    return Warehouse().restock()
''',
    "deploy.yaml": f"warehouse:\n  password: {PASSWORD}\n  token: {GITHUB}\n",
    "docs/keys.md": f"# Warehouse\n\n## Token {GITHUB}\n\nThe token of the warehouse.\n",
    "signing.txt": f"warehouse signing\n{KEY}warehouse end\n",
}
QUERIES = (
    *("warehouse", "connect_warehouse password", "warehouse token", f'"{GITHUB}"', f"/{PASSWORD[:6]}\\w+/"),
    *(
        f'"{KEY_LINES[2]}"',
        "what calls connect_warehouse",
        "sym:connect_warehouse",
        "/password/",
        "kind:module",
    ),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A tree with secrets in its code, and where its index lies."""
    root = write_tree(tmp_path_factory.mktemp("secrets") / "warehouse", TREE)
    index_dir = str(tmp_path_factory.mktemp("secrets-index") / "i")
    with Index.open(root, index_dir=index_dir, encoder="small") as index:
        index.update()
        index.embed()
    return root, index_dir


def leaked(text: str) -> list[str]:
    """Return the pieces of secrets that a text shows, as it is or as JSON, apart from the query itself."""
    for query in QUERIES:
        text = text.replace(json.dumps(query), "").replace(query, "")
    return [piece for piece in PIECES if piece in text]


def run(place: tuple[Path, str], capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command in this process and return all that it says."""
    root, index_dir = place
    capsys.readouterr()
    main([*arguments, str(root), "--index-dir", index_dir])
    said = capsys.readouterr()
    return said.out + said.err


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "grep", "vimgrep", "sarif", "path"])
def test_searches_show_none_in_any_format(place, capsys, form):
    flags = ("--format", form, "--encoder", "small", "-k", "0")
    said = "".join(run(place, capsys, "search", query, *flags) for query in QUERIES)
    assert not leaked(said)
    assert "likely secrets are masked" in said and "--show-secrets shows them" in said
    if form != "path":
        assert leaked(run(place, capsys, "search", "/password/", "--show-secrets", *flags))


@pytest.mark.parametrize(
    "flags",
    [
        ("--explain",),
        ("--expand", "--explain"),
        ("--graph-expand", "--explain"),
        ("-C", "50"),
        ("--snippet-lines", "50"),
    ],
)
def test_explanations_and_added_terms_show_none(place, capsys, flags):
    for mode in ("keyword", "hybrid", "tfidf"):
        for query in ("warehouse token", "connect_warehouse"):
            said = run(place, capsys, "search", query, "--mode", mode, "--encoder", "small", *flags)
            assert "app.py" in said
            assert not leaked(said)


def test_a_batch_shows_none(place, capsys, tmp_path):
    queries = tmp_path / "queries.txt"
    queries.write_text("\n".join(QUERIES))
    for form in ("text", "json", "jsonl", "grep"):
        said = run(place, capsys, "search", "--batch", str(queries), "--format", form, "--encoder", "small")
        assert "app.py" in said
        assert not leaked(said)


@pytest.mark.parametrize(
    "arguments",
    [
        ("related", "connect_warehouse", "--encoder", "small"),
        ("related", "connect_warehouse", "--encoder", "small", "--json"),
        ("symbols", "*", "--json", "-k", "500"),
        ("symbols", "*", "-k", "500"),
        ("callers", "connect_warehouse", "--json"),
        ("callees", "Warehouse.restock", "--json"),
        ("callees", "Warehouse.restock", "--format", "sarif"),
        ("uses", "connect_warehouse", "--mermaid"),
        ("impact", "connect_warehouse"),
        ("path", "nightly_restock", "connect_warehouse", "--json"),
        ("status", "--files", "--json"),
        ("status", "--files"),
    ],
)
def test_other_commands_show_none(place, capsys, arguments):
    said = run(place, capsys, *arguments)
    assert "app.py" in said
    assert not leaked(said)


def test_signatures_of_the_graph_say_what_is_masked(place, capsys):
    answer = json.loads(run(place, capsys, "callees", "Warehouse.restock", "--json"))
    assert answer["notes"] == [
        {"code": "masked", "text": "1 likely secret is masked", "remedy": "--show-secrets shows it"}
    ]
    assert "password='" not in answer["steps"][0]["symbol"]["signature"]
    shown = json.loads(run(place, capsys, "callees", "Warehouse.restock", "--json", "--show-secrets"))
    assert DEFAULT in shown["steps"][0]["symbol"]["signature"]


def test_the_listing_says_which_files_hold_some(place, capsys):
    files = {
        file["path"]: file for file in json.loads(run(place, capsys, "status", "--files", "--json"))["files"]
    }
    assert {path: file["likely_secrets"] for path, file in files.items()} == {
        "app.py": 6,
        "deploy.yaml": 2,
        "docs/keys.md": 1,
        "signing.txt": 1,
    }
    assert ", 1 likely secret\n" in run(place, capsys, "status", "--files")


@pytest.mark.parametrize("warm", [False, True])
def test_the_library_shows_none_unless_asked(place, monkeypatch, warm):
    # A process that has shown much looks at all hits together first.
    monkeypatch.setattr(
        secrets_mask, "prefilter", compile_prefilter(secrets_mask.SECRET_WORDS) if warm else None
    )
    root, index_dir = place
    with Index.open(root, index_dir=index_dir, encoder="none") as index:
        hits = index.search("/password=/", k=0).hits
        assert not leaked(repr(hits))
        assert [(match.line, match.spans) for hit in hits for match in hit.matches]
        assert not leaked(repr([index.symbol(row) for row in index.symbols("*", 500)]))
    with Index.open(root, index_dir=index_dir, encoder="none", show_secrets=True) as index:
        shown = index.search("/password=/", k=0)
        assert not any(note.code == "masked" for note in shown.notes)
        assert DEFAULT in repr(shown.hits)
        for masked, real in zip(hits, shown.hits, strict=True):
            assert len(masked.symbol.code) == len(real.symbol.code)
            assert masked.symbol.line_numbers == real.symbol.line_numbers
            assert [match.spans for match in masked.matches] == [match.spans for match in real.matches]


def test_the_server_shows_none(place):
    root, index_dir = place
    index = Index.open(root, index_dir=index_dir, encoder="small", refresh="never")
    with running([index]) as server:
        said = [server.get("search", q=query, k=50) for query in QUERIES]
        assert any("likely secrets are masked" in note["text"] for answer in said for note in answer["notes"])
        ids = {hit["id"] for answer in said for hit in answer["hits"]}
        found = [server.get("symbol", target=each) for each in sorted(ids)]
        assert any(note["code"] == "masked" for answer in found for note in answer["notes"])
        said += found
        said.append(server.get("related", target="connect_warehouse"))
        said += [
            server.get(f"graph/{name}", target="connect_warehouse") for name in ("callers", "impact", "uses")
        ]
        said.append(server.get("graph/path", target="nightly_restock", to="connect_warehouse"))
        said += [server.get("suggest", q=word, k=20) for word in ("Tok", "ghp", "ware", "con", "pass")]
        assert not leaked(json.dumps(said))


def test_agents_are_shown_none(place):
    root, index_dir = place
    repositories = Repositories({"index_dir": index_dir, "refresh": "never", "encoder": "small"})
    asked = ToolContext(repositories.open([root]), Call())
    replies = [
        search(asked, SEARCH_MODEL(query=query, detail=detail, k=20, max_tokens=8_000))
        for query in QUERIES
        for detail in ("names", "snippets", "full")
    ]
    notes = [note["text"] for reply in replies for note in reply.data["notes"]]
    assert any(note.endswith("likely secrets are masked") for note in notes)  # no flag: it is not the agent's
    replies += [
        symbol(asked, SymbolArguments(symbol=name, detail=detail, max_tokens=8_000))
        for name in ("connect_warehouse", "Warehouse", "app.py:3", "signing.txt:2")
        for detail in ("names", "snippets", "full")
    ]
    replies.append(related(asked, RelatedArguments(symbol="connect_warehouse", max_tokens=8_000)))
    replies += [
        graph(relation, asked, GraphArguments(symbol="connect_warehouse"))
        for relation in ("callers", "callees", "impact")
    ]
    assert not leaked("".join(reply.text + json.dumps(reply.data) for reply in replies))
    repositories.close()


def test_questions_and_sheets_of_an_evaluation_show_none(place):
    root, _ = place
    assert query_from_subject(f"Restock the warehouse with {GITHUB} every night") == ""
    assert query_from_subject("Restock the warehouse every night") != ""
    lines = read_lines_of(SearchResult("signing.txt", "", 1, 12), root)
    assert lines[0] == (1, "warehouse signing")
    assert not leaked(repr(lines))
