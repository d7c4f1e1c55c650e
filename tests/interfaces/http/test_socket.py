"""What the server listens on."""

from __future__ import annotations

import socket

import pytest

from dowse.services.web.server import listen


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_are_not_held_back(host: str) -> None:
    """asyncio turns Nagle's algorithm off only for sockets whose protocol is named."""
    if host == "::1" and not socket.has_ipv6:
        pytest.skip("there is no IPv6 here")
    with listen(host, 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
