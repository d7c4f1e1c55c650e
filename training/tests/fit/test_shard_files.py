"""Shards go to disk and come back; folders of shards are read as one."""

from __future__ import annotations

import numpy as np
import pytest

from dowse.errors import ConfigError
from dowse_training import shard_files

from .conftest import make_shard


def test_a_shard_comes_back_as_it_was(tmp_path):
    shard = make_shard("python", 25, 1)
    shard_files.write(tmp_path, shard)
    back = shard_files.read(tmp_path, "python")
    assert back.language == "python"
    for ours, theirs in zip(shard[1:], back[1:], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_offsets_are_where_pairs_begin():
    shard = make_shard("python", 25, 1)
    starts = shard_files.offsets(shard.lengths)
    stored = shard.lengths[:, [0, 1, 4, 5, 6]].sum(1)
    assert starts[0] == 0
    assert starts[-1] + stored[-1] == len(shard.tokens)


def test_folders_are_joined_by_language_and_packages_stay_apart(tmp_path):
    first, second = make_shard("python", 10, 1), make_shard("python", 20, 2)
    shard_files.write(tmp_path / "a", first)
    shard_files.write(tmp_path / "b", second)
    shard_files.write(tmp_path / "b", make_shard("go", 5, 3))
    go, python = shard_files.read_all([tmp_path / "a", tmp_path / "b"])
    assert (go.language, python.language) == ("go", "python")
    assert len(python.lengths) == 30
    assert set(python.packages[:10]).isdisjoint(python.packages[10:])
    np.testing.assert_array_equal(python.tokens, np.concatenate([first.tokens, second.tokens]))


def test_pairs_kept_aside_are_read_apart(tmp_path):
    shard_files.write(tmp_path, make_shard("python", 10, 1))
    shard_files.write(tmp_path, make_shard("python", 4, 2), valid=True)
    assert [len(shard.lengths) for shard in shard_files.read_all([tmp_path])] == [10]
    assert [len(shard.lengths) for shard in shard_files.read_all([tmp_path], valid=True)] == [4]


def test_a_folder_without_shards_says_how_to_make_some(tmp_path):
    with pytest.raises(ConfigError, match="dowse train shards"):
        shard_files.read_all([tmp_path])
