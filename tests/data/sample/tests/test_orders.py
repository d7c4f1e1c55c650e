"""Tests of orders."""

from bakery.orders import parse_order


def test_parse_order():
    order = parse_order("alice 3")
    assert order.customer == "alice"
    assert order.loaves == 3


def test_parse_order_rejects_nonsense():
    try:
        parse_order("alice many")
    except ValueError:
        return
    raise AssertionError("parse_order accepts nonsense")
