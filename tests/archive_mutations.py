"""Snapshots and reports that somebody has tampered with: whole by their checksums, and wrong inside.

Every mutation is drawn from a seeded generator. Checksums are computed again, so that the damage reaches the
parsers behind them.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import random
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dowse.storage.compression import pack, unpack
from dowse.transfer.frames import MAGIC, SnapshotFile

Frames = list[tuple[bytes, bytes]]

_HEAD = struct.Struct("<4sIII")
# Values that stand for JSON which Python's own writer does not write.
_RAW = {
    "\x01nan": b"NaN",
    "\x01inf": b"1e999",
    "\x01digits": b"9" * 5_000,
    "\x01surrogate": b'"\\ud800"',
    "\x01deep": b"[" * 3_000 + b"]" * 3_000,
    "\x01deeper": b'{"a":' * 100_000,
    "\x01bytes": b'"\xff\xfe"',
    "\x01twice": b'{"key":1,"key":2}',
}
HOSTILE: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**32, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 0.5, -1.5, 1e308),
    *(
        "",
        "\0",
        "\n",
        "../../../etc/passwd",
        "/etc/passwd",
        "..\\..\\x",
        "C:\\x",
        "a" * 5_000,
        "😀" * 100,
        "\u202e",
    ),
    *("\x1b]0;title\x07", "%s%n", "' OR 1=1 --", "0", "-1", "call", "import", "function", "python", "1"),
    *(
        [],
        {},
        [[]],
        [None],
        [[0, 0]],
        [[1]],
        [[2, 1]],
        [[-1, 5]],
        [[0, 10**9]],
        [["a", "b"]],
        {"": ""},
        {"a": {"b": []}},
    ),
    *([[0, 1]] * 3, list(range(50)), ["x"] * 20, {str(n): n for n in range(30)}),
    *_RAW,
]


def read_frames(path: Path) -> Frames:
    """Return the frames of a snapshot that is whole."""
    with SnapshotFile(path) as snapshot:
        return [(frame.kind, frame.data) for frame in snapshot.frames()]


def build_snapshot(frames: Sequence[tuple[bytes, bytes]], level: int = 1) -> bytes:
    """Return a snapshot whose lengths and checksums are right, whatever its frames hold."""
    out, known = [MAGIC], hashlib.blake2b(digest_size=32)
    packed: dict[tuple[bytes, int], tuple[bytes, bytes]] = {}  # the same large frame may come many times
    for kind, data in frames:
        if (kind, id(data)) not in packed:
            packed[kind, id(data)] = _frame(kind, data, level)
        head, stored = packed[kind, id(data)]
        known.update(head)
        out += [head, stored]
    end = json.dumps({"frames": len(frames), "hash": known.hexdigest()}, separators=(",", ":")).encode()
    return b"".join([*out, *_frame(b"ends", end, level)])


def _frame(kind: bytes, data: bytes, level: int) -> tuple[bytes, bytes]:
    stored = zlib.compress(data, level)
    return _HEAD.pack(kind, len(stored), len(data), zlib.crc32(stored)), stored


def as_json(value: object) -> bytes:
    """Write JSON in which some values stand for what is no proper JSON."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    for name, raw in _RAW.items():
        data = data.replace(json.dumps(name).encode(), raw)
    return data


def places_in(value: object) -> list[tuple[Any, Any]]:
    """Return every container in a value with every key or index of it."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        inner = each.items() if isinstance(each, dict) else enumerate(each) if isinstance(each, list) else ()
        for key, child in list(inner):
            found.append((each, key))
            waiting.append(child)
    return found


def mutate_json(rng: random.Random, value: Any) -> Any:
    """Change some values of a JSON value in place, and return it; rarely it is another one altogether."""
    if rng.random() < 0.02:
        return copy.deepcopy(rng.choice(HOSTILE))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        places = places_in(value)
        if not places:
            return value
        container, key = rng.choice(places)
        _mutate_place(rng, container, key, places)
    return value


def _mutate_place(rng: random.Random, container: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    way = rng.randrange(8)
    if way == 0:
        del container[key]
    elif way == 1 and isinstance(container, list):
        container.insert(key, container[key])
    elif way == 1:
        container[f"{key}{rng.randrange(9)}"] = container[key]
    elif way == 2:  # what belongs somewhere else
        other, at = rng.choice(places)
        container[key] = json.loads(json.dumps(other[at]))
    elif way == 3 and isinstance(container[key], int | float):
        container[key] = container[key] + rng.choice((-1, 1, 1 << 20, -(1 << 40)))
    elif way == 4 and isinstance(container[key], str) and container[key]:
        text = container[key]
        at = rng.randrange(len(text))
        container[key] = text[:at] + rng.choice(("", "\0", "/", "..", "é", "\u2028", "z")) + text[at + 1 :]
    else:
        # A copy: the next change may put something into it.
        container[key] = copy.deepcopy(rng.choice(HOSTILE))


def mutate_snapshot(rng: random.Random, frames: Frames) -> bytes:
    """Return a snapshot that differs from a good one in one way."""
    ways: list[Callable[[random.Random, Frames], bytes]] = [
        _mutate_some_json,
        _mutate_some_json,
        _mutate_some_json,
        _mutate_packed,
        _flip_inside,
        _shuffle_frames,
        _mutate_vectors,
        _flip_outside,
        _bomb,
    ]
    weights = [20, 20, 20, 20, 10, 8, 8, 6, 1]
    return rng.choices(ways, weights)[0](rng, list(frames))


def _mutate_some_json(rng: random.Random, frames: Frames) -> bytes:
    index = rng.choice([i for i, (kind, _) in enumerate(frames) if kind != b"vecs"])
    kind, data = frames[index]
    frames[index] = (kind, as_json(mutate_json(rng, json.loads(data))))
    return build_snapshot(frames)


def _mutate_packed(rng: random.Random, frames: Frames) -> bytes:
    """Change what lies packed within a file: references or facts."""
    index = rng.choice([i for i, (kind, _) in enumerate(frames) if kind == b"file"])
    files = json.loads(frames[index][1])
    field = rng.choice(("references", "facts"))
    file = rng.choice([each for each in files if each[field]] or files)
    packed = b64decode(file[field])
    plain = bytearray(unpack(packed)) if packed else bytearray(b"[{},[],-1]")
    way = rng.randrange(5)
    if way == 0:
        packed = rng.randbytes(4) + packed[4:]
    elif way == 1 and field == "facts":
        packed = pack(as_json(mutate_json(rng, json.loads(plain))))
    elif way == 2:
        packed = pack(bytes(plain[: rng.randrange(len(plain) + 1)]))
    elif way == 3 and field == "references":
        plain[:4] = rng.choice((b"\xff" * 4, b"\0" * 4, b"\x01\0\0\0", b"\xff\xff\xff\x7f"))
        packed = pack(bytes(plain))
    else:
        for _ in range(rng.randrange(1, 6)):
            plain[rng.randrange(len(plain))] = rng.randrange(256)
        packed = pack(bytes(plain))
    file[field] = b64encode(packed).decode()
    frames[index] = (b"file", as_json(files))
    return build_snapshot(frames)


def _flip_inside(rng: random.Random, frames: Frames) -> bytes:
    index = rng.randrange(len(frames))
    kind, data = frames[index]
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 8)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    frames[index] = (kind, bytes(changed))
    return build_snapshot(frames)


def _shuffle_frames(rng: random.Random, frames: Frames) -> bytes:
    way = rng.randrange(6)
    index = rng.randrange(len(frames))
    if way == 0:
        frames.insert(rng.randrange(len(frames) + 1), frames[index])
    elif way == 1:
        del frames[index]
    elif way == 2:
        rng.shuffle(frames)
    elif way == 3:
        frames[index] = (rng.randbytes(4), frames[index][1])
    elif way == 4:
        frames[index] = (frames[index][0], frames[index][1][: rng.randrange(len(frames[index][1]) + 1)])
    else:
        frames += [(b"file", b"[]")] * rng.randrange(1, 200)
    return build_snapshot(frames)


def _mutate_vectors(rng: random.Random, frames: Frames) -> bytes:
    found = [i for i, (kind, _) in enumerate(frames) if kind == b"vecs"]
    if not found:
        return _flip_inside(rng, frames)
    index = rng.choice(found)
    data = frames[index][1]
    length = int.from_bytes(data[:4], "little")
    head, rest = json.loads(data[4 : 4 + length]), data[4 + length :]
    if rng.random() < 0.3:
        rest = rest[: rng.randrange(len(rest) + 1)] + rng.randbytes(rng.randrange(20))
    else:
        head = mutate_json(rng, head)
    said = as_json(head)
    size = rng.choice((len(said), len(said), 0, 2**32 - 1, len(data)))
    frames[index] = (b"vecs", size.to_bytes(4, "little") + said + rest)
    return build_snapshot(frames)


def _flip_outside(rng: random.Random, frames: Frames) -> bytes:
    """Damage the file itself: bits, lengths, its end."""
    data = bytearray(build_snapshot(frames))
    way = rng.randrange(3)
    if way == 0:
        return bytes(data[: rng.randrange(len(data))])
    if way == 1:
        at = len(MAGIC) + 4 * rng.randrange(1, 4)
        data[at : at + 4] = rng.choice((0, 1, 2**31, 2**32 - 1)).to_bytes(4, "little")
        return bytes(data)
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def _bomb(rng: random.Random, frames: Frames) -> bytes:
    return build_snapshot(bomb_frames(rng.randrange(6), frames, rng.choice((500_000, 4_000_000))), 9)


def bomb_frames(number: int, frames: Frames, size: int) -> Frames:
    """Return frames that are small when packed and large when read."""
    files = json.loads(frames[1][1])
    if number == 0:
        return [*frames, (b"file", b" " * size)]
    if number == 1:
        return [*frames, (b"file", b"[" + b"[]," * (size // 3) + b"[]]")]
    if number == 2:
        files[0]["text"] += "x" * size
    elif number == 3:  # every symbol spans all of the text
        files[0]["text"] += "word " * (size // 5)
        for symbol in files[0]["symbols"]:
            symbol["spans"] = [[0, size // 5 * 5]]
        files[0]["symbols"] *= 50
    elif number == 4:
        files[0]["references"] = b64encode(pack(b"\0" * size)).decode()
    else:
        files[0]["facts"] = b64encode(pack(b"[{}," + b"[],[" * (size // 4))).decode()
    return [frames[0], (b"file", as_json(files)), *frames[2:]]


def mutate_report(rng: random.Random, report: Any) -> tuple[bytes, bool]:
    """Return a report that differs from a good one, and whether it is packed."""
    data = as_json(mutate_json(rng, json.loads(json.dumps(report))))
    way = rng.randrange(40)
    if way < 3:
        changed = bytearray(data)
        for _ in range(rng.randrange(1, 8)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        data = bytes(changed)
    elif way < 5:
        data = data[: rng.randrange(len(data) + 1)]
    packed = rng.random() < 0.3
    if packed:
        data = _packed_report(rng, data)
    return data, packed


def _packed_report(rng: random.Random, data: bytes) -> bytes:
    way = rng.randrange(40)
    if way == 0:
        return gzip.compress(b"[" * 3_000_000, 9)
    if way == 1:
        return gzip.compress(b" " * 30_000_000, 9)
    stored = bytearray(gzip.compress(data, 1))
    if way < 5:
        stored[rng.randrange(len(stored))] ^= 1 << rng.randrange(8)
    elif way < 8:
        del stored[rng.randrange(len(stored)) :]
    return bytes(stored)
