"""Packed texts come back as they were; what nobody packed is noticed."""

from __future__ import annotations

import contextlib
import random
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.damage import BrokenBlock
from dowse.storage import compression
from dowse.storage.compression import BLOCK_BYTES, pack, unpack
from dowse.storage.local.queries import CatalogQueries

# Random bytes do not shrink.
LONG = random.Random(1).randbytes(2 * BLOCK_BYTES + 7) + bytes(BLOCK_BYTES)


@given(st.binary(max_size=80), st.integers(1, 30))
def test_what_was_packed_comes_back_whole_or_in_blocks(data: bytes, size: int) -> None:
    assert unpack(pack(data)) == data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression, "BLOCK_BYTES", size)
        assert unpack(pack(data)) == data


@given(st.binary(max_size=80), st.booleans())
def test_what_nobody_packed_is_noticed(data: bytes, in_blocks: bool) -> None:
    with contextlib.suppress(BrokenBlock):
        unpack(b"\xff\xff\xff\xff" + data if in_blocks else data)


@pytest.mark.parametrize("cut", [5, 300_000, -1])
def test_a_text_that_was_cut_is_noticed(cut: int) -> None:
    with pytest.raises(BrokenBlock):
        unpack(pack(LONG)[:cut])


def test_a_long_text_is_read_in_pieces() -> None:
    """Whole, other threads would wait for each copy: SQLite's and that of LZ4."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE texts (file_id INTEGER PRIMARY KEY, text BLOB NOT NULL)")
    texts = {1: b"a", 2: LONG, 3: b""}
    database.executemany(
        "INSERT INTO texts VALUES (?, ?)", [(each, pack(text)) for each, text in texts.items()]
    )
    assert dict(CatalogQueries(database).texts([3, 2, 1])) == texts
