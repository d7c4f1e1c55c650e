"""Lanes that go wrong in every way a lane can; run in real processes."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

from dowse.errors import DowseError, QueryError
from dowse.search.lanes.bm25 import keyword_lane
from dowse.workers.frames import MAX_BYTES


def echo(reader, **arguments):
    return os.getpid(), arguments


def hang_asleep(reader, **arguments):
    time.sleep(3600)


def hang_holding_the_lock(reader, **arguments):
    ctypes.PyDLL(None).sleep(3600)  # unlike CDLL, this keeps the interpreter's lock


def hang_spinning(reader, **arguments):
    while True:
        pass


def hang_blocking_signals(reader, **arguments):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    ctypes.PyDLL(None).sleep(3600)


def stop(reader, **arguments):
    os.kill(os.getpid(), signal.SIGSTOP)


def raise_error(reader, **arguments):
    raise RuntimeError("boom\nand more")


def leave(reader, **arguments):
    os._exit(3)


def crash(reader, **arguments):
    os.kill(os.getpid(), signal.SIGSEGV)


def too_large(reader, **arguments):
    return bytes(MAX_BYTES + 1)


def not_picklable(reader, **arguments):
    return lambda: None


class Unreadable:
    """Can be pickled, but not read back."""

    def __reduce__(self):
        return int, ("no number",)


def not_readable(reader, **arguments):
    return Unreadable()


def mistake(reader, **arguments):
    raise DowseError("no such thing; name another")


def wrong_query(reader, **arguments):
    raise QueryError("unbalanced", 7)


def hang_if(reader, hang, note=""):
    if hang:
        hang_holding_the_lock(reader)
    if note:
        with open(note, "a") as file:
            file.write("ran\n")
    return os.getpid()


def leave_while(reader, flag):
    if Path(flag).exists():
        os._exit(3)
    return "alive"


def modules_of_keyword(reader, **arguments):
    keyword_lane(reader, **arguments)
    return sorted(sys.modules)


def as_told(reader, kind, number):
    if kind == "raise":
        raise RuntimeError(number)
    if kind == "leave":
        os._exit(3)
    return number
