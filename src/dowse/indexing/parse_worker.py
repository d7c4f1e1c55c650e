"""A process that parses: jobs come in on standard input, replies go out on standard output.

It lives apart from the indexing process so that a grammar which hangs or crashes on some odd file
costs that file its syntax tree and nothing else. The time limits are the system's timer signals (one for
wall time, one for CPU time), left at their default action: they end this process even while native code never
returns to Python. So does the memory limit: native code that gets no more aborts.
"""

from __future__ import annotations

import gc
import signal
import sys
from pathlib import Path

from dowse.indexing.hashes import content_hash
from dowse.indexing.parse_jobs import GROWTH_BYTES, READY, CorpusJob, Job, Reply, read_frame, write_frame
from dowse.indexing.records import Source, corpus_record, make_record
from dowse.parsing.languages import detect_language
from dowse.parsing.limits import PROCESS_MEMORY_BYTES, file_seconds
from dowse.security.safe_files import read_regular_file
from dowse.source.content import classify_content, decode
from dowse.source.secrets import secret_content_reason

# How much of a file may tell its language: C++ headers often begin with pages of preprocessor lines.
_HEAD = 65_536


def main(time_limit: int) -> None:
    """Answer jobs until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    # Parsing makes objects by the hundred thousand and no cycles: looking for some took 8 % on pydantic.
    gc.disable()
    limit_memory()
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    write_frame(outgoing, READY)
    while (job := read_frame(incoming)) is not None:
        _set_alarm(time_limit, file_seconds(job.size, short=job.short_limits))
        reply = parse_functions(job) if isinstance(job, CorpusJob) else parse_path(job)
        _set_alarm(0, 0)  # the parent may take its time to read this, or to send more
        write_frame(outgoing, reply)


def _set_alarm(wall_seconds: int, cpu_seconds: float) -> None:
    """Let the system end this process after so much time; 0 for never. Windows has no such timers."""
    if hasattr(signal, "setitimer"):
        signal.alarm(wall_seconds)
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)


def limit_memory() -> None:
    """Let this process have so much memory and no more, where the system can do that (Linux)."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard == resource.RLIM_INFINITY or hard > PROCESS_MEMORY_BYTES:
            resource.setrlimit(resource.RLIMIT_DATA, (PROCESS_MEMORY_BYTES, hard))


def parse_functions(job: CorpusJob) -> Reply:
    """Parse functions that came with their text."""
    return Reply(job.key, tuple(corpus_record(f, job.strip_docs, job.plain) for f in job.functions), "")


def parse_path(job: Job) -> Reply:
    """Read one file and parse it."""
    try:
        data = read_regular_file(job.file, job.size + GROWTH_BYTES)
    except OSError as error:
        return Reply(job.key, (), f"unreadable: {error.strerror}")
    digest = content_hash(data)
    if digest == job.known_hash:
        return Reply(job.key, (), "")
    verdict = classify_content(data, job.path)
    if verdict.skip_reason:
        return Reply(job.key, (), verdict.skip_reason)
    if not job.include_secrets and (reason := secret_content_reason(data, job.path)):
        return Reply(job.key, (), reason)
    text, encoding = decode(data)
    language = detect_language(job.path, data[:_HEAD]) or "text"
    role = "generated" if verdict.generated else job.role
    # The size of what was read: the file may have been saved again since it was listed.
    source = Source(
        *(job.key, job.repo, job.path, language, role, len(data), job.mtime_ns, digest, encoding, text),
        tree=Path(job.file.removesuffix(job.path)).name,
    )
    return Reply(job.key, (make_record(source, job.strip_docs, job.plain),), "")
