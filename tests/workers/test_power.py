"""Batteries, as Linux describes them."""

from __future__ import annotations

import sys

import pytest

from dowse.workers.power import is_on_battery

from helpers import write_tree

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the files are those of Linux")


def supply(kind, status, **more):
    return {"type": f"{kind}\n", "status": f"{status}\n"} | {name: f"{text}\n" for name, text in more.items()}


@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ({}, False),
        ({"AC": {"type": "Mains\n", "online": "1\n"}}, False),
        ({"AC": {"type": "Mains\n", "online": "0\n"}, "BAT0": supply("Battery", "Discharging")}, True),
        ({"AC": {"type": "Mains\n", "online": "1\n"}, "BAT0": supply("Battery", "Charging")}, False),
        ({"BAT0": supply("Battery", "Full"), "BAT1": supply("Battery", "Discharging")}, True),
        ({"hid-mouse": supply("Battery", "Discharging", scope="Device")}, False),
        ({"BAT0": {"type": "Battery\n"}}, False),
    ],
)
def test_a_battery_that_gives_power(tmp_path, supplies, expected):
    for name, files in supplies.items():
        write_tree(tmp_path / name, files)
    assert is_on_battery(tmp_path) == expected


def test_no_such_folder_is_no_battery(tmp_path):
    assert not is_on_battery(tmp_path / "none")
