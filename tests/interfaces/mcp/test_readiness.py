"""Before an answer: the index is there, changes are taken in, and nobody waits longer than was said."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from dowse.errors import DowseError
from dowse.interfaces.mcp.readiness import NotReady, index_changes, wait_until_searchable
from dowse.interfaces.mcp.repositories import Repositories, Repository
from dowse.services.calls import Call, Cancelled
from mcp_clients import PATIENCE, inside, run, stdio

from helpers import write_tree


async def _ignore(_: float, __: str) -> None:
    """Tell nobody."""


def paths_of(repository: Repository) -> set[str]:
    return {file.path for file in repository.index.contents.files()}


def test_the_first_call_waits_no_longer_than_it_says(shop: Path) -> None:
    async def wait() -> None:
        repositories = Repositories({})
        repository = repositories.open([shop])[0]
        try:
            with pytest.raises(NotReady, match=r"nothing can be searched yet after 0 s.*call again"):
                await wait_until_searchable(repository, 0.0, _ignore)
            assert repository.is_first_build
            # What was begun goes on: the next call finds it done, or waits for the rest.
            await wait_until_searchable(repository, PATIENCE, _ignore)
            assert not repository.is_first_build and repository.index.exists
        finally:
            repositories.close()

    run(wait())


def test_what_fails_is_said_and_tried_again_by_the_next_call(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "repo", {"app.py": "def app():\n    pass\n"})
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the index should be")

    async def wait() -> None:
        repositories = Repositories({"index_dir": str(blocked)})
        repository = repositories.open([root])[0]
        try:
            with pytest.raises(DowseError, match="repo can't be indexed"):
                await wait_until_searchable(repository, PATIENCE, _ignore)
            blocked.unlink()
            await wait_until_searchable(repository, PATIENCE, _ignore)
            assert paths_of(repository) == {"app.py"}
        finally:
            repositories.close()

    run(wait())


def test_changes_are_taken_in_before_the_answer(shop: Path) -> None:
    repository = Repositories({}).open([shop])[0]
    repository.index.update()
    (shop / "new.py").write_text("def brand_new():\n    pass\n")
    (shop / "notes.md").unlink()
    assert index_changes(repository, Call(), by_meaning=False) == []
    assert paths_of(repository) == {"shop/cart.py", "tests/test_cart.py", "new.py"}


def test_calls_that_came_before_somebody_looked_do_not_look_again(shop: Path) -> None:
    repository = Repositories({}).open([shop])[0]
    repository.index.update()
    earlier = Call()
    index_changes(repository, Call(), by_meaning=False)
    (shop / "new.py").write_text("def brand_new():\n    pass\n")
    index_changes(repository, earlier, by_meaning=False)
    assert "new.py" not in paths_of(repository)
    index_changes(repository, Call(), by_meaning=False)
    assert "new.py" in paths_of(repository)


def test_a_cancelled_call_stops_what_it_is_doing(shop: Path) -> None:
    repository = Repositories({}).open([shop])[0]
    repository.index.update()
    write_tree(shop, {f"more/file_{number}.py": "def more():\n    pass\n" for number in range(20)})
    call = Call()
    read: list[object] = []

    class StopsAfterThree(threading.Event):
        """Somebody loses patience after three files."""

        def is_set(self) -> bool:
            read.append(None)
            return len(read) > 3

    object.__setattr__(call, "stop", StopsAfterThree())
    with pytest.raises(Cancelled):
        index_changes(repository, call, by_meaning=False)
    assert len(read) == 4 and not any(path.startswith("more/") for path in paths_of(repository))
    index_changes(repository, Call(), by_meaning=False)
    assert sum(path.startswith("more/") for path in paths_of(repository)) == 20


def test_a_cancelled_call_that_waits_in_line_is_never_worked_on(shop: Path) -> None:
    async def session() -> None:
        async with inside(shop) as (dowse, server):
            await dowse.text("search", query="cart")
            repository = server.repositories.open([shop])[0]
            with repository.check_lock:
                before = repository.checked_at
                waiting = asyncio.create_task(dowse.call("search", query="checkout"))
                while not server.threads.pending:
                    await asyncio.sleep(0)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            while server.threads.pending:
                await asyncio.sleep(0)
            assert repository.checked_at == before

    run(session())


def test_an_agent_sees_what_it_has_just_saved(shop: Path) -> None:
    async def session() -> None:
        async with stdio(shop, cwd=shop) as dowse:
            await dowse.text("search", query="checkout")
            for name in ("ping_the_printer", "fold_the_paper"):
                (shop / "office.py").write_text(f"def {name}():\n    return 1\n")
                assert f"office.py:1-2 function {name}" in await dowse.text("search", query=name)
            (shop / "office.py").unlink()
            assert "office.py" not in await dowse.text("search", query="fold_the_paper")

    run(session())


def test_a_watched_repository_follows_its_files(shop: Path) -> None:
    async def session() -> None:
        async with stdio(shop, "--watch", cwd=shop) as dowse:
            await dowse.text("search", query="checkout")
            await dowse.until(lambda text: "; watched" in text, "status")
            (shop / "office.py").write_text("def fold_the_paper():\n    return 1\n")
            await dowse.until(lambda text: "office.py:1-2" in text, "search", query="fold_the_paper")

    run(session())
