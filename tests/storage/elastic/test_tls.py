"""TLS: a certificate that is not to be trusted is one line with a remedy; the right one is accepted."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from dowse.errors import ConfigError, DowseError
from dowse.storage.elastic.backend import ElasticBackend
from storage.secured_fixtures import variables_set

PAST = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@contextlib.contextmanager
def tls_server(certificate: trustme.LeafCert | None) -> Iterator[str]:
    """Answer 401 with a certificate, or without TLS; yield host and port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if certificate is not None:
        certificate.configure_cert(context)
    answer = b"HTTP/1.1 401 No\r\nX-Elastic-Product: Elasticsearch\r\nContent-Length: 0\r\n\r\n"

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), connection:
                if certificate is None:
                    connection.recv(10_000)
                    connection.sendall(answer)
                    continue
                with context.wrap_socket(connection, server_side=True) as secure:
                    secure.recv(10_000)
                    secure.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def error_at(host: str, **variables: str) -> DowseError:
    """Return the error of a search there."""
    backend = ElasticBackend(f"elastics://{host}/code", retry_seconds=0.2)
    with pytest.raises(DowseError) as error, variables_set(variables):
        backend.has_generation()
    backend.close()
    assert "\n" not in str(error.value)
    return error.value


def test_certificates_that_are_not_to_be_trusted(authority: trustme.CA, tmp_path: Path) -> None:
    ca = str(tmp_path / "ca.pem")
    authority.cert_pem.write_to_path(ca)
    right = authority.issue_cert("127.0.0.1")
    with tls_server(right) as host:
        assert "set DOWSE_ELASTIC_CA to the certificate of the authority" in str(error_at(host))
        assert "rejected the credentials" in str(error_at(host, DOWSE_ELASTIC_CA=ca))
    with tls_server(authority.issue_cert("search.example.org")) as host:
        assert "write the host in the address as the certificate" in str(error_at(host, DOWSE_ELASTIC_CA=ca))
    with tls_server(authority.issue_cert("127.0.0.1", not_before=PAST, not_after=PAST)) as host:
        assert "let the administrator of the cluster renew it" in str(error_at(host, DOWSE_ELASTIC_CA=ca))
    with tls_server(None) as host:
        assert "does not speak TLS at this port; write elastic://" in str(error_at(host, DOWSE_ELASTIC_CA=ca))


def test_a_fingerprint_instead_of_the_authority(authority: trustme.CA) -> None:
    certificate = authority.issue_cert("127.0.0.1")
    der = ssl.PEM_cert_to_DER_cert(certificate.cert_chain_pems[0].bytes().decode())
    fingerprint = hashlib.sha256(der).hexdigest()
    with_colons = ":".join(fingerprint[at : at + 2] for at in range(0, 64, 2)).upper()
    with tls_server(certificate) as host:
        for written in (fingerprint, with_colons):
            assert "rejected the credentials" in str(error_at(host, DOWSE_ELASTIC_FINGERPRINT=written))
        wrong = error_at(host, DOWSE_ELASTIC_FINGERPRINT="0" * 64)
        assert "compare DOWSE_ELASTIC_FINGERPRINT" in str(wrong)


def test_settings_that_can_t_be_used(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    for variables in (
        {"DOWSE_ELASTIC_FINGERPRINT": "abc"},
        {"DOWSE_ELASTIC_CA": str(tmp_path / "ca.pem")},
        {"DOWSE_ELASTIC_API_KEY": "two\nlines"},
        {"DOWSE_ELASTIC_API_KEY": "häßlich"},
    ):
        error = error_at("127.0.0.1:1", **variables)
        assert isinstance(error, ConfigError) and next(iter(variables)) in str(error)
        assert "two" not in str(error) and "häßlich" not in str(error)


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660])
def test_a_file_with_a_secret_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "key"
    file.write_text("s3cret")
    file.chmod(mode)
    error = error_at("127.0.0.1:1", DOWSE_ELASTIC_API_KEY_FILE=str(file))
    assert "others may read; run `chmod 600`" in str(error) and "s3cret" not in str(error)
    file.chmod(0o600)
    assert "no node of" in str(error_at("127.0.0.1:1", DOWSE_ELASTIC_API_KEY_FILE=str(file)))
