"""Messages through a real pipe, in pieces, cut short and broken."""

from __future__ import annotations

import os
import pickle
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import QueryError
from dowse.indexing.parse_jobs import Reply
from dowse.workers import frames


def through_pipe(pieces):
    """Read one message from a pipe into which somebody writes these pieces."""
    incoming, outgoing = os.pipe()

    def write():
        for piece in pieces:
            os.write(outgoing, piece)
        os.close(outgoing)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        return frames.FrameReader(incoming).read()
    finally:
        os.close(incoming)
        thread.join()


@given(st.recursive(st.integers() | st.text() | st.binary(max_size=3000), st.lists), st.integers(1, 500))
def test_a_message_arrives_however_it_is_cut(message, size):
    frame = frames.pack(message)
    assert through_pipe(frame[at : at + size] for at in range(0, len(frame), size)) == message


@given(st.data())
def test_a_message_cut_short_is_the_end(data):
    frame = frames.pack("a message")
    length = data.draw(st.integers(0, len(frame) - 1))
    with pytest.raises(EOFError):
        through_pipe([frame[:length]])


@pytest.mark.parametrize("broken", [b"\xff" * 8, frames.pack(b"x" * 40)[:20] + b"?" * 60])
def test_what_is_no_message_is_told(broken):
    with pytest.raises(ValueError, match="message"):
        through_pipe([broken])


def test_messages_of_confined_processes_hold_data_only():
    reply = Reply("a", "skipped", reason="b")
    for message in (reply, [QueryError("c")], {"d": (1, b"e", {2.0})}):
        data = frames.pack(message)[8:]
        assert repr(frames.load_data(data)) == repr(message)


class _Call:
    def __init__(self, function, *arguments):
        self._call = function, arguments

    def __reduce__(self):
        return self._call


@pytest.mark.parametrize(
    "message", [_Call(os.system, "true"), _Call(print), _Call(frames.pack, 1), frames.FrameReader]
)
def test_code_in_messages_of_confined_processes_is_refused(message):
    with pytest.raises(pickle.UnpicklingError, match="is no data"):
        frames.load_data(pickle.dumps(message))


def test_modules_are_no_way_to_code_in_messages():
    message = b"\x80\x04\x8c\x0ddowse.workers\x8c\x0bframes.pack\x93."
    for data in (message, message.replace(b"\x0bframes.pack", b"\x09os.system")):
        with pytest.raises(pickle.UnpicklingError, match="is no data"):
            frames.load_data(data)


def test_messages_that_arrive_together_are_kept_apart():
    incoming, outgoing = os.pipe()
    os.write(outgoing, b"".join(map(frames.pack, ("one", "two", "three"))))
    os.close(outgoing)
    reader = frames.FrameReader(incoming)
    assert [reader.read() for _ in range(3)] == ["one", "two", "three"]
    with pytest.raises(EOFError):
        reader.read()
    os.close(incoming)
