"""What bounds memory: large processes are replaced, and filters of keys exclude none that was added."""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.indexing.memory_budget import resident_bytes
from dowse.indexing.parse_jobs import Job
from dowse.indexing.parse_pool import parse_all
from dowse.storage.local.key_filter import KeyFilter

from helpers import write_tree

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")


@linux_only
def test_a_process_that_is_too_large_is_replaced_and_nothing_is_lost(tmp_path):
    tree = write_tree(tmp_path / "tree", {f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(20)})
    jobs = [Job(name, "r", name, "", str(tree), name, 1, 1, "", False) for name in sorted(os.listdir(tree))]
    assert resident_bytes(os.getpid()) > 1_000_000
    assert list(parse_all(jobs, 2, worker_bytes=1)) == list(parse_all(jobs, 2))


@given(st.sets(st.integers(-(1 << 63), (1 << 63) - 1)))
def test_a_filter_never_excludes_a_key_that_was_added(keys):
    found = KeyFilter(keys, len(keys))
    assert not any(found.excludes(key) for key in keys)
