"""Processes that live long do not keep what they no longer need."""

from __future__ import annotations

import subprocess
import sys

MAKE_CYCLES = """
import gc, tracemalloc
from dowse import process_memory

gc.set_threshold(100_000, 20, 20)  # as the command line does
process_memory.prepare_for_long_life()
tracemalloc.start()


class Node:
    def __init__(self):
        self.itself, self.data = self, bytes(10_000)


for _ in range(60_000):
    Node()
process_memory.return_free_memory()
print(tracemalloc.get_traced_memory()[1] >> 20)
"""


def test_cycles_are_collected_as_they_come():
    made = subprocess.run([sys.executable, "-c", MAKE_CYCLES], check=True, capture_output=True, text=True)
    assert int(made.stdout) < 100  # of 600 megabytes
