"""The path of one query: planned and parsed once, through few files."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import dowse
from dowse import Index
from dowse.interfaces.cli.main import main
from dowse.query.parser import parse_query
from dowse.search.pipeline import search
from dowse.search.planner import make_plan

from helpers import job_files, write_tree

SOURCE = Path(dowse.__file__).parent
FILES = job_files("start", "stop", "retry", "cancel", "pause", "resume", "delay", "count", "list", "log")
QUESTION = "where is a failed job tried again"


class Tracer:
    """Counts calls of functions, and the files of `dowse/search/` that run below `pipeline.search`.

    A file counts if a function that is written in it is called in this thread; neither importing it counts,
    with the bodies of its classes, nor constructors that `dataclass` makes. There were 19 by this count
    before files were put together.
    """

    def __init__(self) -> None:
        self.calls: Counter[object] = Counter()
        self.entered: set[str] = set()
        self._depth = 0

    def __enter__(self) -> Tracer:
        sys.setprofile(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _trace(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED:
            self.calls[code] += 1
            self._depth += code is search.__code__
            path = Path(code.co_filename)
            if self._depth and code.co_name != "<module>" and path.is_relative_to(SOURCE / "search"):
                self.entered.add(str(path.relative_to(SOURCE)))
        elif event == "return":
            self._depth -= code is search.__code__


def test_a_cold_search_plans_and_parses_once_and_enters_few_files(tmp_path, capsys):
    root, place = write_tree(tmp_path / "code", FILES), str(tmp_path / "index")
    with Index.open(root, index_dir=place, encoder="small") as index:
        index.update()
    with Tracer() as tracer:
        code = main(["search", QUESTION, str(root), "--index-dir", place, "--encoder", "small"])
    assert code == 0 and "retry" in capsys.readouterr().out
    assert tracer.calls[make_plan.__code__] == tracer.calls[parse_query.__code__] == 1
    assert {"search/lanes/bm25.py", "search/lanes/dense.py"} <= tracer.entered
    assert len(tracer.entered) <= 14, tracer.entered


def test_a_first_search_plans_once(tmp_path, capsys):
    root = write_tree(tmp_path / "code", FILES)
    with Tracer() as tracer:
        assert main(["search", QUESTION, str(root), "--index-dir", str(tmp_path / "index")]) == 0
    assert tracer.calls[make_plan.__code__] == 1
