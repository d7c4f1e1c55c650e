"""What travels between the indexing process and its parsing processes."""

from __future__ import annotations

import pickle
import struct
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from dowse.types import FileRecord

if TYPE_CHECKING:
    from dowse.source.corpus import CorpusFunction

# The first frame of every process: from here on, a death is the fault of the file at hand.
READY = "ready"
_LENGTH = struct.Struct("<I")
# A file may grow between being listed and being read; what grew by more is read the next time.
GROWTH_BYTES = 1_000_000


class Job(NamedTuple):
    """One file to read and parse."""

    key: str
    repo: str
    path: str
    role: str
    file: str  # where to read it, as the system names it
    size: int
    mtime_ns: int
    known_hash: str  # reply "same" if the content still has this hash
    strip_docs: bool
    include_secrets: bool = False
    plain: str = ""  # why it must not be parsed, only cut into lines
    short_limits: bool = False  # too much time has gone into slow files


class CorpusJob(NamedTuple):
    """Some functions of a corpus to parse, each with its text."""

    key: str
    functions: tuple[CorpusFunction, ...]
    strip_docs: bool
    plain: str = ""
    short_limits: bool = False

    @property
    def size(self) -> int:
        """How much text there is to parse."""
        return sum(len(function.code) for function in self.functions)


class Reply(NamedTuple):
    """What became of a job: records, or a reason why there are none ("" and no record: unchanged)."""

    key: str
    records: tuple[FileRecord, ...]
    reason: str


AnyJob = Job | CorpusJob


def read_frame(stream: BinaryIO) -> Any:  # noqa: ANN401 - a job or a reply
    """Read one length-prefixed object, None at the end of the stream, be it in the middle of one."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = stream.read(length)
    if len(body) < length:
        return None
    return pickle.loads(body)  # noqa: S301 - both ends are ours


def write_frame(stream: BinaryIO, message: object) -> None:
    """Write one length-prefixed object."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()
