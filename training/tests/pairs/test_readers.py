"""Worker processes are replaced when a package kills them, and end when their parent does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dowse_training.pairs.exclusion import Exclusion
from dowse_training.pairs.model import Package
from dowse_training.pairs.package import Wanted
from dowse_training.pairs.readers import Readers
from dowse_training.pairs.sources.protocol import FetchError

WANTED = Wanted(frozenset({"python"}), 10, Exclusion())
SOURCE = '''def count_words(text):
    """Count how often each word occurs in a text."""
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts
'''


class Deadly:
    """Ends the process that unpickles it, as a crash in a grammar would."""

    def __reduce__(self):
        return os._exit, (1,)


@pytest.fixture
def package(tmp_path):
    (tmp_path / "words.py").write_text(SOURCE)
    return Package("local", "words", "1", "", tmp_path)


@pytest.mark.parametrize("processes", [0, 1])
def test_a_package_is_read_in_this_process(package, processes):
    with Readers(WANTED, processes) as readers:
        assert [found.name for found in readers.read(package).candidates] == ["count_words"]


def test_a_package_that_kills_its_process_is_a_reason_and_the_others_are_read(package):
    deadly = Package("local", "deadly", "1", "", Deadly())
    with Readers(WANTED, 2) as readers, ThreadPoolExecutor(3) as threads:
        futures = [threads.submit(readers.read, one) for one in (package, deadly, package)]
        with pytest.raises(FetchError, match="killed"):
            futures[1].result()
        for read in (futures[0].result(), futures[2].result(), readers.read(package)):
            assert [found.name for found in read.candidates] == ["count_words"]


PARENT = """
import sys
from pathlib import Path
from dowse_training.pairs.model import Package
from dowse_training.pairs.readers import Readers
from test_readers import WANTED

if __name__ == "__main__":
    with Readers(WANTED, 2) as readers:
        readers.read(Package("local", "words", "1", "", Path(sys.argv[1])))
        print(*readers._pool._processes, flush=True)
        sys.stdin.read()
"""


def test_processes_end_with_their_parent_even_if_it_is_killed(package, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, str(script), str(package.folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, env={**os.environ, "PYTHONPATH": path}) as parent:
        workers = [int(number) for number in parent.stdout.readline().split()]
        assert workers
        parent.send_signal(signal.SIGKILL)
        # The workers hold the other end of the pipe: it closes when the last of them is gone.
        assert parent.stdout.read() == b""
