"""One browser and one server for all tests that only read; each test gets a fresh, empty profile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright; `scripts/setup dev` installs it")

from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from dowse import Index
from dowse.services.web.options import ServeOptions
from interfaces.http.running import Running, running
from web.browser import ARGUMENTS, chromium
from web.reports import write_reports

from helpers import index_tree, write_tree

# Machines that run tests are sometimes busy; whatever is waited for comes at once on one that is not.
PATIENCE_MS = 120_000
expect.set_options(timeout=PATIENCE_MS)

INN = {
    "rooms.py": 'def sweep(room):\n    """Sweep the floor of a room."""\n    return room\n',
    "night.py": "from rooms import sweep\n\n\ndef evening(rooms):\n    return list(map(sweep, rooms))\n",
}

# A method with callers in code, certain and not, and more of them in tests, which are certain.
BUSY = {
    "queue.py": "class Queue:\n    def put(self, item):\n        return store(item)\n\n\n"
    "def store(item):\n    return item\n",
    "many.py": "".join(f"def worker_of_many_{number}():\n    return {number}\n\n\n" for number in range(40)),
    "other.py": "class Shelf:\n    def put(self, item):\n        return item\n",
    **{
        f"workers/worker_{number}.py": "from queue import Queue\n\n\n"
        + "".join(
            f"def send_{number}_{each}(queue: Queue):\n    queue.put({each})\n\n\n" for each in range(4)
        )
        + f"def guess_{number}(thing):\n    thing.put(1)\n"
        for number in range(8)
    },
    **{
        f"tests/test_queue_{number}.py": "from queue import Queue\n\n\n"
        + "".join(f"def test_put_{number}_{each}():\n    Queue().put({each})\n\n\n" for each in range(11))
        for number in range(8)
    },
}


@pytest.fixture(scope="session")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A repository with a method that is called everywhere."""
    return index_tree(tmp_path_factory.mktemp("busy") / "busy", BUSY, refresh="never")


@pytest.fixture(scope="module")  # it has an event loop, beside which tests can't run one
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def inn(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A second repository, by words alone."""
    return index_tree(tmp_path_factory.mktemp("inn") / "inn", INN, refresh="never")


@pytest.fixture(scope="session")
def server(bakery: Index, inn: Index, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with both, and with two reports."""
    reports = write_reports(tmp_path_factory.mktemp("reports"))
    with running([bakery, inn], ServeOptions(reports=(reports,))) as run:
        yield run


@pytest.fixture
def mill(tmp_path: Path) -> Index:
    """A tree to change, not indexed yet."""
    files = {"wheel.py": "def turn(wheel):\n    return wheel\n\n\ndef grind(corn):\n    return turn(corn)\n"}
    return Index.open(write_tree(tmp_path / "mill", files), index_dir=str(tmp_path / "i"), encoder="small")


@dataclass
class Visitor:
    """Opens pages as somebody who was asked already, and keeps what their consoles say."""

    browser: Browser
    url: str
    said: list[str] = field(default_factory=list)

    def open(
        self,
        address: str = "/",
        *,
        consent: str = "no",
        width: int = 1280,
        theme: str = "light",
        touch: bool = False,
    ) -> Page:
        """Open an address of the page in a profile of its own."""
        context = self.browser.new_context(
            base_url=self.url,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if theme == "dark" else "light",
            has_touch=touch,
            permissions=["clipboard-read", "clipboard-write"],
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE_MS)
        if consent:
            # Not over what the page itself kept since.
            context.add_init_script(
                f"localStorage.getItem('dowse.consent') ?? localStorage.setItem('dowse.consent', '{consent}')"
            )
        page = context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.goto(address)
        return page

    def _hear(self, message: ConsoleMessage) -> None:
        # What the server refuses is shown by the page, and said by the browser as well.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.said.append(message.text)


Visit = Callable[[Running], Visitor]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Come to a server; afterwards no console may have told of an error or a breach of the policy."""
    visitors: list[Visitor] = []

    def come(run: Running) -> Visitor:
        visitors.append(Visitor(browser, run.url))
        return visitors[-1]

    yield come
    for context in browser.contexts:
        for page in context.pages:
            page.unroute_all(behavior="ignoreErrors")  # answers that tests changed may still be on their way
        context.close()
    assert [line for each in visitors for line in each.said] == []


@pytest.fixture
def visitor(visit: Visit, server: Running) -> Visitor:
    """Somebody at the server with everything."""
    return visit(server)
