"""Access rules: the Host header (DNS rebinding), the Origin header (CSRF), the bearer token or cookie."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import socket
from collections.abc import Mapping, Sequence

from dowse.lazy_classes import NamedTuple
from dowse.services.web.options import ServeOptions, is_loopback
from dowse.services.web.peers import is_own_connection

# A Host header (RFC 9110, 7.2): a host name or an IP address, and an optional port.
_HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{0,5})?", re.ASCII)
# What `dowse serve` gives only to those who have its token.
PROTECTED = ("/api", "/metrics")


class Refusal(NamedTuple):
    """Why a request is rejected: the fields of its problem+json response."""

    status: int
    kind: str
    detail: str
    remedy: str


class AccessRules:
    """The access rules of one server."""

    def __init__(
        self, options: ServeOptions, command: str = "dowse serve", protected: Sequence[str] = PROTECTED
    ) -> None:
        """Take the options of a server.

        `command` is the one that printed its address, for messages. `protected` paths, and what is below
        them, need the token.
        """
        self._options, self._command, self._protected = options, command, protected
        self._origins = frozenset(origin.rstrip("/").lower() for origin in options.allow_origins)
        self._host_names = _own_host_names(options)
        digest = hashlib.sha256(f"dowse cookie\0{options.token}".encode()).hexdigest()
        # Ports share cookies, and two servers may run on one machine.
        self.cookie_name, self._cookie = f"dowse_{options.port}", digest

    def check(self, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Return why a request is rejected, None if it is allowed."""
        return (
            self._check_host(headers.get("host", ""))
            or self._check_origin(method, path, headers)
            or self._check_token(path, headers)
        )

    def admits(self, value: str, client_port: int) -> bool:
        """Whether a browser gets the cookie for a value in its address: the token, or the opening code.

        The code has been on the command line of a browser, where all users see it: it counts for our own.
        """
        if _is_equal(value, self._options.opening_code):
            return is_own_connection(client_port, self._options.port)
        return _is_equal(value, self._options.token)

    def cookie(self, is_https: bool) -> str:
        """Return the Set-Cookie header that authenticates a browser from now on."""
        secure = "; Secure" if is_https else ""
        return (
            f"{self.cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000{secure}"
        )

    def _check_host(self, host: str) -> Refusal | None:
        """Reject foreign host names: another site may point its name to this machine (DNS rebinding)."""
        name = _host_name(host)
        if name in self._host_names or (not is_loopback(self._options.host) and _is_address(name)):
            return None
        return Refusal(
            421,
            "wrong-host",
            f"this server is not called {name or host[:100]!r}",
            f"use the address that `{self._command}` printed",
        )

    def _check_origin(self, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Reject requests that pages of other sites cause (CSRF); following a link to the page is allowed.

        Browsers say what a request is for (Fetch Metadata): a link to the page opens a document in a tab. One
        to the API is refused, and so is either in a frame. Programs send none of these headers.
        """
        origin = headers.get("origin", "").lower()
        if origin and (origin in self._origins or _is_same_origin(origin, headers.get("host", ""))):
            return None
        if not origin and headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return None
        what = (method, headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
        if not origin and what == ("GET", "navigate", "document") and not self._is_protected(path):
            return None
        return Refusal(
            403,
            "wrong-origin",
            f"pages of {origin or 'other sites'} may not use this server",
            f"send requests from no page of another site; `{self._command} --help` says what can be allowed",
        )

    def _check_token(self, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Require the bearer token or its cookie for the API; the page's own files hold no secrets."""
        if not self._options.token or not self._is_protected(path):
            return None
        scheme, _, token = headers.get("authorization", "").partition(" ")
        # Headers are decoded as Latin-1; clients send other characters as UTF-8.
        token = token.strip().encode("latin-1", "replace").decode("utf-8", "replace")
        if scheme.lower() == "bearer" and _is_equal(token, self._options.token):
            return None
        if self._has_cookie(headers.get("cookie", "")):
            return None
        return Refusal(
            401,
            "no-token",
            "this server requires its token",
            f"open the address that `{self._command}` printed, or send `Authorization: Bearer TOKEN`",
        )

    def _is_protected(self, path: str) -> bool:
        return any(f"{path}/".startswith(f"{each}/") for each in self._protected)

    def _has_cookie(self, header: str) -> bool:
        """Whether one of the cookies of a request is ours, whatever the others contain (RFC 6265, 4.2).

        All applications of a machine share their cookies, and not all write valid ones. Of several with our
        name, one with the right value is enough: they may come from different paths.
        """
        expected, is_ours = self._cookie.encode(), False
        for name, value in cookie_pairs(header):
            if name == self.cookie_name:
                is_ours |= hmac.compare_digest(value.encode("utf-8", "replace"), expected)
        return is_ours


def _is_equal(value: str, secret: str) -> bool:
    """Compare with a secret in constant time; nothing equals one that is not set."""
    return bool(secret) and hmac.compare_digest(value.encode("utf-8", "replace"), secret.encode())


def cookie_pairs(header: str) -> list[tuple[str, str]]:
    """Return the cookies of a request as names and values; parts without a name are ignored.

    Browsers separate them by semicolons, which no value can contain, and values may be in quotes.
    """
    pairs = (part.partition("=") for part in header.split(";"))
    return [(name.strip(), value.strip().strip('"')) for name, equals, value in pairs if equals]


def _own_host_names(options: ServeOptions) -> frozenset[str]:
    """Return the host names that requests to this server may carry."""
    names = {_host_name(origin.partition("://")[2].rstrip("/")) for origin in options.allow_origins}
    names |= {"localhost", "127.0.0.1", "::1", options.host.strip("[]").lower()}
    if not is_loopback(options.host):
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(names - {""})


def _host_name(host: str) -> str:
    """Return the host name of a Host header without the port; "" for an invalid header."""
    match = _HOST.fullmatch(host.strip(" \t").lower())
    if match is None:
        return ""
    if match["six"] is not None:
        return match["six"] if _is_address(match["six"]) and ":" in match["six"] else ""
    return match["name"].removesuffix(".")


def _is_address(name: str) -> bool:
    """Whether a name is an IP address, which no DNS server can redirect."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_same_origin(origin: str, host: str) -> bool:
    """Whether an origin is that of the server, by the request's own Host header."""
    return origin in (f"http://{host.strip().lower()}", f"https://{host.strip().lower()}")
