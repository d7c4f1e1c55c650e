"""Where a cluster is, and what proves to it who we are: the first may be shown, the second never."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl

from dowse.errors import ConfigError

SCHEMES = ("elastic", "elastics")
_DEFAULT_PORT = 9200
_FORM = "elastic://[user@]host:port[,host:port…]/NAME (elastics:// for TLS)"
# What Elasticsearch allows in the name of an index, less what reads badly in an address.
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+)(?::([0-9]{1,5}))?")
_MOST_SHARDS = 1024
# Where credentials come from; with `_FILE` behind it, the name of a file that holds one.
API_KEY, PASSWORD, AUTHORITY = "DOWSE_ELASTIC_API_KEY", "DOWSE_ELASTIC_PASSWORD", "DOWSE_ELASTIC_CA"


@dataclass(frozen=True, slots=True)
class ElasticAddress:
    """One index on one cluster; it holds nothing secret."""

    hosts: tuple[str, ...]  # "host:port"
    name: str
    user: str = ""
    tls: bool = False
    shards: int | None = None  # None leaves the choice to us: it depends on how many nodes there are
    replicas: int | None = None

    def __str__(self) -> str:
        who = f"{self.user}@" if self.user else ""
        asked = [f"{name}={value}" for name, value in self._numbers() if value is not None]
        options = f"?{'&'.join(asked)}" if asked else ""
        return f"{SCHEMES[self.tls]}://{who}{','.join(self.hosts)}/{self.name}{options}"

    def _numbers(self) -> tuple[tuple[str, int | None], ...]:
        return ("shards", self.shards), ("replicas", self.replicas)

    @property
    def urls(self) -> list[str]:
        """The nodes, as the client wants them."""
        return [f"{'https' if self.tls else 'http'}://{host}" for host in self.hosts]


@dataclass(frozen=True, slots=True)
class Credentials:
    """What proves who we are; never shown, logged or stored."""

    api_key: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    authority: str = ""  # the file of the authority that signed the cluster's certificate


def parse_address(text: str) -> ElasticAddress:
    """Read an address; one with a password in it is refused, for addresses are shown and stored."""
    scheme, _, rest = text.partition("://")
    if scheme not in SCHEMES:
        raise ConfigError(f"{_without_secret(text)!r} is no address of a cluster; write {_FORM}")
    # First, and to the last @: a password may hold whatever ends the other parts.
    if re.search(r"[:/?]", rest.rpartition("@")[0]):
        raise ConfigError(
            f"the address of a cluster must not hold a password, for it is shown and stored; "
            f"set {PASSWORD} or {API_KEY} and write {_FORM}"
        )
    place, _, options = rest.partition("?")
    nodes, _, name = place.partition("/")
    user, _, hosts = nodes.rpartition("@")
    name = name.strip("/")
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} can't be the name of an index on a cluster: lower-case letters, digits, '.', '_' "
            f"and '-', as in {_FORM}"
        )
    shards, replicas = _numbers(options)
    found = tuple(_host(host) for host in hosts.split(","))
    return ElasticAddress(found, name, user, scheme == "elastics", shards, replicas)


def _host(text: str) -> str:
    found = _HOST.fullmatch(text.strip())
    if not found or not 0 < int(found[2] or _DEFAULT_PORT) < 65536:
        raise ConfigError(f"{text!r} names no host of a cluster; write {_FORM}")
    return f"{found[1]}:{found[2] or _DEFAULT_PORT}"


def _numbers(options: str) -> tuple[int | None, int | None]:
    """Return the shards and replicas that an address asks for."""
    found: dict[str, int] = {}
    for name, value in parse_qsl(options, keep_blank_values=True):
        if name not in ("shards", "replicas"):
            # Never the value: it may be a key that somebody put there.
            raise ConfigError(f"an address of a cluster takes shards= and replicas=, not {name}=")
        least = 1 if name == "shards" else 0
        if not value.isdecimal() or not least <= int(value) <= _MOST_SHARDS:
            raise ConfigError(f"{name}={value} must be a number from {least} to {_MOST_SHARDS}")
        found[name] = int(value)
    return found.get("shards"), found.get("replicas")


def _without_secret(text: str) -> str:
    return re.sub(r"//.*@", "//…@", text, flags=re.DOTALL)


def read_credentials(address: ElasticAddress) -> Credentials:
    """Return what the environment says, itself or through files."""
    api_key, password = _secret(API_KEY), _secret(PASSWORD)
    authority = os.environ.get(AUTHORITY, "")
    if authority and not Path(authority).is_file():
        raise ConfigError(
            f"{AUTHORITY} names {authority}, which is no file; name the authority's certificate"
        )
    if password and not api_key and not address.user:
        raise ConfigError(
            f"{PASSWORD} is set, but nobody it belongs to; name the user in the address: {_FORM}"
        )
    if address.user and not password and not api_key:
        raise ConfigError(
            f"there is no password for {address.user}; set {PASSWORD}, {PASSWORD}_FILE or {API_KEY}"
        )
    return Credentials(api_key, password, authority)


def _secret(name: str) -> str:
    place = os.environ.get(f"{name}_FILE", "")
    if not place:
        return os.environ.get(name, "")
    try:
        return Path(place).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{name}_FILE names {place}, which can't be read; check its name and permissions"
        ) from error
