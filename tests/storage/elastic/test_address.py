"""Addresses of clusters, and credentials that never show."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from dowse.errors import ConfigError
from dowse.storage.elastic.address import parse_address, read_credentials
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.open import is_cluster
from storage.elastic.fault_proxy import fault_proxy

SECRET = "hunter2-very-secret"


@pytest.mark.parametrize(
    ("text", "hosts", "name"),
    [
        ("elastic://localhost:9200/code", ("localhost:9200",), "code"),
        ("elastic://localhost/code", ("localhost:9200",), "code"),
        ("elastic://a:1,b:2,c/team-code", ("a:1", "b:2", "c:9200"), "team-code"),
        ("elastics://me@[::1]:9200/x?shards=6&replicas=2", ("[::1]:9200",), "x"),
    ],
)
def test_an_address_is_parsed_and_formatted(text: str, hosts: tuple[str, ...], name: str) -> None:
    address = parse_address(text)
    assert (address.hosts, address.name) == (hosts, name)
    assert address.tls == text.startswith("elastics")
    assert parse_address(str(address)) == address
    assert is_cluster(text)


def test_options_of_an_address() -> None:
    address = parse_address("elastics://me@host/x?shards=6&replicas=0")
    assert (address.user, address.shards, address.replicas) == ("me", 6, 0)
    assert address.urls == ["https://host:9200"]


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:9200/code",
        "elastic://localhost:9200",
        "elastic://localhost:9200/Code",
        "elastic://localhost:9200/-code",
        "elastic://localhost:9200/a/b",
        "elastic://localhost:99999/code",
        "elastic:///code",
        "elastic://a,,b/code",
        "elastic://localhost/code?shards=0",
        "elastic://localhost/code?shards=many",
        "elastic://localhost/code?colour=red",
    ],
)
def test_a_wrong_address_is_refused_with_the_right_form(text: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_address(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        f"elastic://me:{SECRET}@localhost:9200/code",
        f"elastic://me:{SECRET}@localhost:9200/Wrong",
        f"elastic://me:with/{SECRET}@localhost:9200/code",
        f"elastic://me:with?{SECRET}@localhost:9200/code",
        f"https://me:with/{SECRET}@localhost:9200/code",
        f"https://me:{SECRET}@localhost:9200/code",
        f"elastic://localhost:9200/code?api_key={SECRET}",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_address(text)
    assert SECRET not in str(error.value)


def test_credentials_come_from_the_environment_or_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address = parse_address("elastic://me@localhost/code")
    with pytest.raises(ConfigError, match="DOWSE_ELASTIC_PASSWORD"):
        read_credentials(address)
    monkeypatch.setenv("DOWSE_ELASTIC_PASSWORD", SECRET)
    assert read_credentials(address).password == SECRET
    (tmp_path / "password").write_text(f"other-{SECRET}\n")
    (tmp_path / "password").chmod(0o600)
    monkeypatch.setenv("DOWSE_ELASTIC_PASSWORD_FILE", str(tmp_path / "password"))
    assert read_credentials(address).password == f"other-{SECRET}"
    assert SECRET not in repr(read_credentials(address))
    monkeypatch.setenv("DOWSE_ELASTIC_PASSWORD_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="can't be read"):
        read_credentials(address)
    monkeypatch.delenv("DOWSE_ELASTIC_PASSWORD_FILE")
    with pytest.raises(ConfigError, match="name the user"):
        read_credentials(parse_address("elastic://localhost/code"))
    monkeypatch.setenv("DOWSE_ELASTIC_CA", str(tmp_path / "no-ca.pem"))
    with pytest.raises(ConfigError, match="no file"):
        read_credentials(address)


@pytest.mark.parametrize("name", ["DOWSE_ELASTIC_PASSWORD", "DOWSE_ELASTIC_API_KEY"])
def test_rejected_credentials_are_reported_without_the_secret(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    monkeypatch.setenv(name, SECRET)
    sent: list[str] = []

    def refuse(method: str, path: str) -> int:
        sent.append(path)
        return 401

    with caplog.at_level(logging.DEBUG), fault_proxy(refuse) as host:
        backend = ElasticBackend(f"elastic://me@{host}/code", "shop")
        with pytest.raises(ConfigError, match="rejected the credentials") as error, backend.reader():
            pass
        backend.close()
    assert sent and "\n" not in str(error.value) and name in str(error.value)
    shown = [str(error.value), repr(backend), backend.address, repr(backend.parsed_address), caplog.text]
    assert not any(SECRET in each for each in shown)
