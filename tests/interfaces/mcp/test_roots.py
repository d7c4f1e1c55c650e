"""Which folders are served: those of the command line, the client's roots, or the current one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ListRootsResult, Root

from dowse import Index
from dowse.interfaces.cli.main import main
from mcp_clients import inside, run, stdio

from helpers import large_from, write_tree


class Roots:
    """A client's roots, which may change."""

    def __init__(self, *folders: Path) -> None:
        self.folders = folders
        self.asked = 0

    async def __call__(self, _: Any) -> ListRootsResult:
        self.asked += 1
        return ListRootsResult(roots=[Root(uri=folder.as_uri()) for folder in self.folders])


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    return tuple(  # type: ignore[return-value]
        write_tree(tmp_path / f"the {name}", {"app.py": f"def {name}():\n    pass\n"})
        for name in ("inn", "shop")
    )


@pytest.mark.parametrize("mode", large_from(1, ["auto", "legacy"]))
def test_the_roots_of_the_client_are_served(mode: str, folders: tuple[Path, Path], tmp_path: Path) -> None:
    roots = Roots(folders[0])

    async def session() -> None:
        async with stdio(cwd=tmp_path, mode=mode, list_roots_callback=roots) as dowse:
            assert f"the inn ({folders[0]})" in await dowse.text("search", query="inn")
            roots.folders = (folders[1],)
            if mode == "legacy":  # later versions ask with every call
                assert f"({folders[0]})" in await dowse.text("search", query="shop")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", MCPDeprecationWarning)
                    await dowse.client.send_roots_list_changed()
            found = await dowse.until(lambda text: f"({folders[1]})" in text, "search", query="shop")
            assert "app.py:1-2 function shop" in found
            assert "outside of what may be read" in await dowse.error(
                "symbol", symbol=f"{folders[0]}/app.py:1"
            )
            roots.folders = folders
            if mode == "auto":
                both = await dowse.text("status")
                assert "the inn (" in both and "the shop (" in both

    run(session())


def test_folders_of_the_command_line_are_all_there_is(folders: tuple[Path, Path]) -> None:
    roots = Roots(folders[0])

    async def session() -> None:
        async with inside(folders[1], list_roots_callback=roots) as (dowse, _):
            said = await dowse.text("status")
            assert "the shop (" in said and "the inn" not in said and not roots.asked

    run(session())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_without_roots_the_current_folder_is_served(
    mode: str, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folders[0] / ".git").mkdir()
    (folders[0] / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(folders[0])

    async def session() -> None:
        async with inside(mode=mode) as (dowse, _):
            assert "the inn (" in await dowse.text("status")
        async with inside(mode=mode, list_roots_callback=Roots()) as (dowse, _):
            assert "the inn (" in await dowse.text("status")

    run(session())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_roots_that_are_not_here_do_not_mean_the_current_folder(
    mode: str, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders[0])

    async def session() -> None:
        async with inside(mode=mode, list_roots_callback=Roots(folders[0] / "gone")) as (dowse, _):
            said = await dowse.error("search", query="x")
            assert "none of the client's roots" in said and "dowse mcp PATH" in said

    run(session())


def test_a_folder_that_is_no_repository_is_asked_about(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders[0])

    async def session() -> None:
        async with inside() as (dowse, _):
            said = await dowse.error("search", query="inn")
            assert "ask the user which folder" in said and f"dowse index '{folders[0]}'" in said
            assert "is no git repository" in await dowse.error("status")
            index = Index.open(folders[0])
            assert not index.exists
            index.update()  # the user's answer
            assert "app.py:1-2 function inn" in await dowse.text("search", query="inn")

    run(session())


def test_nobody_means_to_index_a_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home" / "ada"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)

    async def session() -> None:
        for more in ({}, {"list_roots_callback": Roots(home.parent)}):
            async with inside(**more) as (dowse, _):
                said = await dowse.error("search", query="x")
                assert "which is not one repository" in said and "dowse mcp PATH" in said

    run(session())
    assert main(["mcp", "--http", "0"]) == 2
