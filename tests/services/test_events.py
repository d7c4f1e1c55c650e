"""What subscribers are told beside the counts."""

from __future__ import annotations

import time

import pytest

from dowse.services.events import EventBroker


def test_the_time_left_follows_from_the_rate_of_the_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 110.0, 120.0, 130.0, 131.0])
    monkeypatch.setattr(time, "time", lambda: next(clock))
    broker = EventBroker(1)
    left = []
    for phase, done in (("index", 10), ("index", 30), ("embed", 0), ("embed", 20), ("embed", 5)):
        broker.publish("bakery", phase, done, 100)
        left.append(broker.latest("bakery").seconds_left)
    # 70 files at 2 a second; 80 symbols at 2 a second; a phase that starts again says nothing
    assert left == [None, 35.0, None, 40.0, None]
