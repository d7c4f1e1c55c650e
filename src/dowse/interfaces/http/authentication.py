"""Who may ask: from which name, from which page, with which secret."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import socket
from collections.abc import Mapping
from typing import NamedTuple

from dowse.interfaces.http.options import ServeOptions, is_loopback

# Methods that change nothing.
_SAFE = frozenset(["GET", "HEAD", "OPTIONS"])
# A Host header as a whole (RFC 9110, 7.2): a name or an address, and perhaps a port.
_HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{0,5})?", re.ASCII)


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    kind: str
    detail: str
    remedy: str


# What is said to a request that can't even be checked.
UNREADABLE = Refusal(
    400, "bad-request", "the request can't be read", "send it as browsers do, without unusual headers"
)


class Access:
    """The rules of one server."""

    def __init__(self, options: ServeOptions) -> None:
        self._options = options
        self._origins = frozenset(origin.rstrip("/").lower() for origin in options.allow_origins)
        self._names = _own_names(options)
        digest = hashlib.sha256(f"dowse cookie\0{options.token}".encode()).hexdigest()
        # Ports share cookies, and two servers may run on one machine.
        self.cookie_name, self._cookie = f"dowse_{options.port}", digest

    def refusal(self, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Return why a request is refused, None if it may go on."""
        return (
            self._wrong_host(headers.get("host", ""))
            or self._wrong_origin(method, path, headers)
            or self._wrong_token(path, headers)
        )

    def is_token(self, given: str) -> bool:
        """Whether this is the secret; takes the same time however much of it is right."""
        expected = self._options.token
        return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())

    def cookie(self, is_https: bool) -> str:
        """Return the header that lets a browser in from now on."""
        secure = "; Secure" if is_https else ""
        return (
            f"{self.cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000{secure}"
        )

    def _wrong_host(self, host: str) -> Refusal | None:
        """Refuse names that are not ours: a page elsewhere may have had its name point to this machine."""
        name = _host_name(host)
        if name in self._names or (not self._options.is_loopback and _is_address(name)):
            return None
        return Refusal(
            421,
            "wrong-host",
            f"this server is not called {name or host[:100]!r}",
            "use the address that `dowse serve` printed, or allow this one with --allow-origin",
        )

    def _wrong_origin(self, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Refuse what other sites' pages ask for; following a link to the page is no such thing."""
        origin = headers.get("origin", "").lower()
        if origin and (origin in self._origins or _is_same(origin, headers.get("host", ""))):
            return None
        site = headers.get("sec-fetch-site", "none")
        follows_link = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
        from_elsewhere = bool(origin) or site in ("cross-site", "same-site")
        if not from_elsewhere or (follows_link and not origin):
            return None
        return Refusal(
            403,
            "wrong-origin",
            f"pages of {origin or 'other sites'} may not ask this server",
            "open the page of this server itself, or allow the origin with --allow-origin",
        )

    def _wrong_token(self, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Ask for the secret; the page's own files hold nothing that is one."""
        if not self._options.token or not (path == "/api" or path.startswith("/api/")):
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        # Headers come as Latin-1; clients write other letters as UTF-8.
        given = given.strip().encode("latin-1", "replace").decode("utf-8", "replace")
        if scheme.lower() == "bearer" and self.is_token(given):
            return None
        if self._has_cookie(headers.get("cookie", "")):
            return None
        return Refusal(
            401,
            "no-token",
            "this server answers only those who know its secret",
            "send `Authorization: Bearer SECRET`, or open the page once with ?token=SECRET",
        )

    def _has_cookie(self, header: str) -> bool:
        """Whether one of the cookies of a request is ours, whatever stands in the others (RFC 6265, 4.2).

        All applications of a machine share their cookies, and not all write what the RFC allows. Of several
        with our name, one that is right is enough: they may come from different paths.
        """
        expected, found = self._cookie.encode(), False
        for name, value in cookie_pairs(header):
            if name == self.cookie_name:
                found |= hmac.compare_digest(value.encode("utf-8", "replace"), expected)
        return found


def cookie_pairs(header: str) -> list[tuple[str, str]]:
    """Return the cookies of a request as names and values; what has no name is left out.

    A browser sends them separated by semicolons, which no value can hold, and values may be in quotes.
    """
    pairs = (part.partition("=") for part in header.split(";"))
    return [(name.strip(), value.strip().strip('"')) for name, equals, value in pairs if equals]


def _own_names(options: ServeOptions) -> frozenset[str]:
    """Return the names that this server may be called by."""
    names = {_host_name(origin.partition("://")[2].rstrip("/")) for origin in options.allow_origins}
    names |= {"localhost", "127.0.0.1", "::1", options.host.strip("[]").lower()}
    if not is_loopback(options.host):
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(names - {""})


def _host_name(host: str) -> str:
    """Return the name of a Host header, without the port; "" for what is no such header."""
    found = _HOST.fullmatch(host.strip(" \t").lower())
    if found is None:
        return ""
    if found["six"] is not None:
        return found["six"] if _is_address(found["six"]) and ":" in found["six"] else ""
    return found["name"].removesuffix(".")


def _is_address(name: str) -> bool:
    """Whether a name is an address: no name server can make one mean another machine."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_same(origin: str, host: str) -> bool:
    """Whether an origin is that of the server, as the request itself calls it."""
    return origin in (f"http://{host.strip().lower()}", f"https://{host.strip().lower()}")
