"""What the worker does first, and what it puts off; in this process, step by step."""

from __future__ import annotations

import pytest

from dowse import Index
from dowse.indexing import likely_files
from dowse.watch import maintained
from dowse.watch.messages import Forget, Request
from dowse.watch.worker import Worker
from watch.whole import rebuilt, whole

from helpers import write_tree

FILES = {f"shop/m{n}.py": f"def price_{n}(item):\n    return item + {n}\n" for n in range(200)}


# A function in each file.
SYMBOLS = len(FILES)


class Events(list):
    """Events as the parent gets them."""

    def event(self, kind, **fields):
        self.append((kind, fields))

    def progress(self, kind, **fields):
        return lambda progress: self.append((kind, {"done": progress.done, **fields}))

    def kinds(self):
        return [kind for kind, _ in self]


@pytest.fixture
def index(tmp_path):
    root = write_tree(tmp_path / "shop", FILES)
    with Index.open(root, index_dir=str(tmp_path / "index"), encoder="small", isolation="never") as index:
        index.update(embed=False)
        yield index


def request(index, number=1, task="finish"):
    return Request(str(index.root), number, task, index.root, index.backend.address, index.settings)


def steps(worker, count=50):
    """Let a worker do what is due, without its pauses."""
    worker._accept()
    for each in list(worker._indexes.values()):
        for _ in range(count):
            each.step()
            if not each.work_on():
                break


def test_searches_of_an_index_do_not_interrupt_its_embedding(index):
    worker = Worker(Events())
    worker.receive(request(index))
    worker._accept()
    assert not worker._is_interrupted()
    worker.receive(request(index, 2))
    assert not worker._is_interrupted()
    worker.receive(Request("another", 3, "finish", index.root, index.backend.address, index.settings))
    assert worker._is_interrupted()


@pytest.mark.parametrize("message", ["end", Forget("any")])
def test_other_messages_interrupt_it(index, message):
    worker = Worker(Events())
    worker.receive(request(index))
    worker._accept()
    worker.receive(message)
    assert worker._is_interrupted()


def test_on_battery_only_the_vectors_are_put_off(index, monkeypatch):
    monkeypatch.setattr(maintained, "is_on_battery", lambda: True)
    clock = maintained.time.monotonic
    events = Events()
    worker = Worker(events)
    worker.receive(request(index))
    steps(worker)
    [each] = worker._indexes.values()
    assert index.vectors.missing() == SYMBOLS
    assert index.graph.is_linked
    assert not each.is_finished
    assert each.due() > clock() + 1  # it does not spin
    monkeypatch.setattr(maintained, "is_on_battery", lambda: False)
    monkeypatch.setattr(maintained, "POWER_SECONDS", 0.0)
    each._embed_at = 0.0  # half a minute later
    steps(worker)
    assert not index.vectors.missing()
    assert "embedded" in events.kinds()


def test_what_a_first_search_left_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(likely_files, "FIRST_BYTES", 500)
    monkeypatch.setattr("dowse.indexing.update._SMALL_BYTES", 0)
    root = write_tree(tmp_path / "shop", FILES)
    options = {"encoder": "none", "isolation": "never", "processes": 2}
    with Index.open(root, index_dir=str(tmp_path / "index"), **options) as index:
        index.update(defer_graph=True, question="price of 17")
        assert not index.contents.is_complete
        worker = Worker(Events())
        worker.receive(request(index))
        steps(worker)
        assert index.contents.is_complete
        assert index.graph.is_linked
        assert whole(index) == rebuilt(index, str(tmp_path / "fresh"))
