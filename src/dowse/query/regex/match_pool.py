"""Processes that match patterns which may take long; each is killed at the deadline of its search."""

from __future__ import annotations

from dowse import deadline
from dowse.errors import DowseError, QueryError, TooSlow
from dowse.query.regex.ast import Node
from dowse.query.regex.match_worker import MAX_BYTES, MatchRequest
from dowse.types import Span
from dowse.workers.idle import IdleWorkers
from dowse.workers.program import worker_program
from dowse.workers.supervisor import Cause, Supervisor, WorkerDied

# As many as a server has threads for patterns; they go when no text has been long for a while.
_idle = IdleWorkers(room=4, seconds=5.0)
_START_SECONDS = 30.0
# Without a deadline.
_MAX_SECONDS = 60.0
_SLOW = (Cause.DEADLINE, Cause.WALL_TIME)


def find_spans(node: Node, data: bytes | memoryview, one_a_line: bool) -> list[Span]:
    """Return the spans of the matches of a pattern, as `Pattern.spans`.

    Raises:
        TooSlow: The deadline has passed.
        Cancelled: Nobody waits for the answer.
        QueryError: The pattern is too large, or takes too much memory.
    """
    deadline.check()
    program = worker_program("dowse.query.regex.match_worker")
    worker = _idle.take() or Supervisor(program, max_bytes=MAX_BYTES, quiet=True, is_confined=True)
    try:
        worker.start(None, deadline.seconds_left(_START_SECONDS), deadline.check_cancelled)
        seconds = deadline.seconds_left(_MAX_SECONDS)
        request = MatchRequest(node, len(data), one_a_line, seconds)
        reply: list[Span] | QueryError = worker.exchange(request, seconds, deadline.check_cancelled, data)
    except WorkerDied as death:
        has_started = worker.is_ready
        worker.discard()
        deadline.check()
        raise _error(death, has_started) from None
    except BaseException:  # cancelled, or Ctrl-C: its answer would be taken for that of the next request
        worker.discard()
        raise
    _idle.keep(worker)
    if isinstance(reply, QueryError):
        raise reply
    return reply


def _error(death: WorkerDied, has_started: bool) -> Exception:
    if not has_started:
        return DowseError(f"a process to match a pattern could not start ({death.detail})")
    if death.cause in _SLOW:
        return TooSlow(f"no answer within {_MAX_SECONDS:.3g} s; make the pattern more specific")
    return QueryError("the pattern takes too much memory on a long line; shorten it, or filter by path:")
