"""Address and credentials of a cluster: the address may be shown and stored, credentials never."""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qsl

from dowse.errors import ConfigError
from dowse.lazy_classes import dataclass, field
from dowse.security.safe_files import open_regular_file

SCHEMES = ("elastic", "elastics")
_DEFAULT_PORT = 9200
_FORM = "elastic://[user@]host:port[,host:port…]/NAME (elastics:// for TLS)"
# What Elasticsearch allows in the name of an index, without what reads badly in an address.
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+)(?::([0-9]{1,5}))?")
_MAX_SHARDS = 1024
# Environment variables with credentials; with the suffix `_FILE`, the name of a file that holds one.
API_KEY, PASSWORD = "DOWSE_ELASTIC_API_KEY", "DOWSE_ELASTIC_PASSWORD"
CA_FILE, FINGERPRINT = "DOWSE_ELASTIC_CA", "DOWSE_ELASTIC_FINGERPRINT"
_MAX_SECRET_BYTES = 10_000
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ElasticAddress:
    """One index on one cluster, without secrets."""

    hosts: tuple[str, ...]  # "host:port"
    name: str
    user: str = ""
    tls: bool = False
    shards: int | None = None  # None: chosen by the number of nodes
    replicas: int | None = None

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        numbers = (("shards", self.shards), ("replicas", self.replicas))
        options = "&".join(f"{name}={value}" for name, value in numbers if value is not None)
        query = f"?{options}" if options else ""
        return f"{SCHEMES[self.tls]}://{user}{','.join(self.hosts)}/{self.name}{query}"

    @property
    def urls(self) -> list[str]:
        """URLs of the nodes."""
        return [f"{'https' if self.tls else 'http'}://{host}" for host in self.hosts]


@dataclass(frozen=True, slots=True)
class Credentials:
    """Secrets that authenticate us; never shown, logged or stored."""

    api_key: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    ca_file: str = ""  # certificate of the authority that signed the cluster's
    fingerprint: str = ""  # or its SHA-256, in lower-case hexadecimal


def parse_address(text: str) -> ElasticAddress:
    """Parse an address; one with a password in it is refused, because addresses are shown and stored."""
    scheme, _, remainder = text.partition("://")
    if scheme not in SCHEMES:
        redacted = re.sub(r"//.*@", "//…@", text, flags=re.DOTALL)
        raise ConfigError(f"{redacted!r} is no address of a cluster; write {_FORM}")
    # First, and up to the last @: a password may hold the characters that end the other parts.
    if re.search(r"[:/?]", remainder.rpartition("@")[0]):
        raise ConfigError(
            f"the address of a cluster must not hold a password, because it is shown and stored; "
            f"set {PASSWORD} or {API_KEY} and write {_FORM}"
        )
    location, _, options = remainder.partition("?")
    nodes, _, name = location.partition("/")
    user, _, hosts = nodes.rpartition("@")
    name = name.strip("/")
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} can't be the name of an index on a cluster: lower-case letters, digits, '.', '_' "
            f"and '-', as in {_FORM}"
        )
    shards, replicas = _parse_options(options)
    parsed = tuple(_parse_host(host) for host in hosts.split(","))
    return ElasticAddress(parsed, name, user, scheme == "elastics", shards, replicas)


def _parse_host(text: str) -> str:
    match = _HOST.fullmatch(text.strip())
    if not match or not 0 < int(match[2] or _DEFAULT_PORT) < 65536:
        raise ConfigError(f"{text!r} names no host of a cluster; write {_FORM}")
    return f"{match[1]}:{match[2] or _DEFAULT_PORT}"


def _parse_options(options: str) -> tuple[int | None, int | None]:
    """Return the shards and replicas that an address asks for."""
    numbers: dict[str, int] = {}
    for name, value in parse_qsl(options, keep_blank_values=True):
        if name not in ("shards", "replicas"):
            # Not the value: it may be a key that somebody put there.
            raise ConfigError(f"an address of a cluster takes shards= and replicas=, not {name}=")
        smallest = 1 if name == "shards" else 0
        if not value.isdecimal() or not smallest <= int(value) <= _MAX_SHARDS:
            raise ConfigError(f"{name}={value} must be a number from {smallest} to {_MAX_SHARDS}")
        numbers[name] = int(value)
    return numbers.get("shards"), numbers.get("replicas")


def read_credentials(address: ElasticAddress) -> Credentials:
    """Return the credentials of the environment, given in variables or in files that they name."""
    api_key, password = _read_secret(API_KEY), _read_secret(PASSWORD)
    if ca_file := os.environ.get(CA_FILE, ""):
        _check_certificates(ca_file)
    fingerprint = os.environ.get(FINGERPRINT, "").replace(":", "").strip().lower()
    if fingerprint and not _SHA256.fullmatch(fingerprint):
        raise ConfigError(f"{FINGERPRINT} is no SHA-256 fingerprint; write its 64 hexadecimal digits")
    if password and not api_key and not address.user:
        raise ConfigError(
            f"{PASSWORD} is set, but no user it belongs to; name the user in the address: {_FORM}"
        )
    if address.user and not password and not api_key:
        raise ConfigError(
            f"there is no password for {address.user}; set {PASSWORD}, {PASSWORD}_FILE or {API_KEY}"
        )
    return Credentials(api_key, password, ca_file, fingerprint)


def _check_certificates(ca_file: str) -> None:
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(ca_file)
    except OSError as error:  # also that of OpenSSL
        raise ConfigError(
            f"{CA_FILE} names {ca_file}, which is no file with certificates; name that of the authority (PEM)"
        ) from error


def _read_secret(name: str) -> str:
    file = os.environ.get(f"{name}_FILE", "")
    secret = _read_private_file(name, file) if file else os.environ.get(name, "")
    # What could not be sent in a header; a password is encoded.
    if not secret.isprintable() or (name == API_KEY and not secret.isascii()):
        variable = f"{name}_FILE" if file else name
        raise ConfigError(f"{variable} holds other characters than a key has; write the secret alone")
    return secret


def _read_private_file(name: str, file: str) -> str:
    """Return the secret in a file, which nobody else may read."""
    try:
        handle = open_regular_file(file, follow_symlinks=True)
        try:
            is_private = os.name == "nt" or not os.fstat(handle).st_mode & 0o077
            content = os.read(handle, _MAX_SECRET_BYTES).decode("utf-8")
        finally:
            os.close(handle)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{name}_FILE names {file}, which can't be read; check its name and permissions"
        ) from error
    if not is_private:
        raise ConfigError(f"{name}_FILE names {file}, which others may read; run `chmod 600` on it")
    return content.strip()
