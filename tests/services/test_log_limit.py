"""Messages that repeat are logged a few times."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from dowse.services.web.log_limit import RepeatLimit


def test_repeated_messages_are_counted_instead_of_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("dowse.services.web.log_limit.time", SimpleNamespace(monotonic=lambda: now[0]))
    logger = logging.Logger("limited")
    logger.addHandler(caplog.handler)
    logger.addFilter(RepeatLimit(count=2, seconds=60.0))

    def fail(error: Exception) -> None:
        try:
            raise error
        except Exception:
            logger.exception("%s failed", "GET /")

    for _ in range(1_000):
        fail(ValueError("again"))
    fail(KeyError("another"))
    assert [record.getMessage() for record in caplog.records] == ["GET / failed"] * 3
    now[0] += 61
    fail(ValueError("again"))
    assert caplog.records[-1].getMessage() == "GET / failed (and 998 more like it before)"
