"""Hosts on the sample's index, ended with their test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from dowse import Index
from dowse.search.lanes.host import LaneHost
from dowse.search.lanes.jobs import LANES, START_SECONDS, Lane


@pytest.fixture
def make_host(sample_index: Index) -> Iterator[Callable[..., LaneHost]]:
    """What makes a host with more lanes: `name="module:function"`."""
    hosts = []
    before = set(threading.enumerate())  # another suite's server may be at work in this process

    def make(
        index: Index = sample_index,
        settings: Mapping[str, Any] = {},
        start_seconds: float = START_SECONDS,
        **faults: str,
    ) -> LaneHost:
        lanes = {name: Lane(function) for name, function in faults.items()}
        echo = Lane("search.lanes.faults:echo")
        changed = replace(index.settings, **settings)
        known = {**LANES, "echo": echo, **lanes}
        hosts.append(LaneHost(index.backend.address, changed, known, start_seconds))
        return hosts[-1]

    yield make
    for host in hosts:
        host.close()
    left = set(threading.enumerate()) - before
    assert not [thread for thread in left if thread.name.startswith("dowse-")]


@pytest.fixture
def reader(sample_index: Index) -> Iterator[object]:
    """A reader of the sample's index."""
    with sample_index.backend.reader() as reader:
        yield reader
