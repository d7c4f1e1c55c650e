"""Completing the files of a new index: what only the call graph and exact search need follows the words."""

from __future__ import annotations

import time
from pathlib import Path

from dowse.indexing.memory_budget import COMMIT_BYTES
from dowse.indexing.parse_jobs import GraphJob
from dowse.indexing.parse_pool import parse_all
from dowse.storage.protocol import Writer

# What is known of these files is in memory at once.
_FILES_AT_ONCE = 5_000


def complete_deferred_files(writer: Writer, processes: int) -> None:
    """Store references, bindings and trigrams of the files that were indexed without, and commit them.

    Their texts come from the index: a file may have changed since it was read.
    """
    from dowse.indexing.records import empty_graph_part  # loads the parser, which is for other processes

    run, address, root = str(time.monotonic_ns()), writer.share_graph(), writer.meta()["root"]
    uncommitted = 0
    while files := writer.deferred_files(_FILES_AT_ONCE):
        jobs = (GraphJob(run, address, file, Path(root).name) for file in files)
        replies = parse_all(jobs, processes, root=root, catalog=address)
        for file, reply in zip(files, replies, strict=True):
            # A file that ends the process now has its definitions, and no references.
            writer.complete_file(file.file_id, reply.graph or empty_graph_part(file))
            uncommitted += file.size
        if uncommitted > COMMIT_BYTES:
            writer.commit({})
            uncommitted = 0
    if uncommitted:
        writer.commit({})
