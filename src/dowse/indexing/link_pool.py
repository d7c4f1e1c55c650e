"""Linking in the parser processes of a full index: in one process it would take as long as parsing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial

from dowse.graph.link import FileLinks, Linker
from dowse.indexing.parse_jobs import LinkJob
from dowse.indexing.parse_pool import parse_all
from dowse.storage.protocol import NamedReference, ResolvedReference, Writer

# Files of one job: neighbours look up the same names, and a process keeps the answers.
_MAX_FILES = 100
# Jobs for each process, so that none works alone at the end.
_JOBS = 4
# Finished jobs for each process that may wait for a slow one before them: each has megabytes of links.
_MAX_AHEAD = 8

# Create named tuples at the speed of plain ones.
_RESOLVED = partial(tuple.__new__, ResolvedReference)
_NAMED = partial(tuple.__new__, NamedReference)


def resolve_in_processes(
    writer: Writer, processes: int, file_ids: Sequence[int], program: str = ""
) -> Iterator[FileLinks]:
    """Yield the references of files in their order, the same as `Linker.resolve` in this process.

    Args:
        writer: Has the graph; if other processes can't read it, it is linked here.
        processes: How many processes link at once.
        file_ids: The files.
        program: The program of the processes, if not `parser_program()`.
    """
    linker = Linker(writer.graph())
    address = writer.share_graph()
    if not address:
        yield from linker.resolve(file_ids)
        return
    size = min(_MAX_FILES, -(-len(file_ids) // (_JOBS * processes)))
    run = str(time.monotonic_ns())
    starts = range(0, len(file_ids), size)
    jobs = [LinkJob(run, address, tuple(file_ids[start : start + size])) for start in starts]
    window = _MAX_AHEAD * processes
    root = writer.meta().get("root", "")  # as for parsing, whose processes do this as well
    replies = parse_all(jobs, processes, program=program, window=window, root=root, catalog=address)
    for job, reply in zip(jobs, replies, strict=True):
        if reply.status == "linked":
            for file_id, resolved, named, dependencies in reply.links:
                yield FileLinks(
                    file_id, list(map(_RESOLVED, resolved)), list(map(_NAMED, named)), dependencies
                )
        else:  # its process died
            yield from linker.resolve(job.file_ids)
