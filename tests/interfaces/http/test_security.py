"""Who may ask, and how much: names, origins, secrets, limits, and what every answer carries."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import httpx
import pytest

from dowse import Index
from dowse.services.web.options import ServeOptions, is_loopback
from interfaces.http.running import Running, checked, running

SECRET = "correct horse battery staple"


@pytest.fixture(scope="module")
def guarded(inn: Index) -> Iterator[Running]:
    """A server that wants a secret and lets one other origin in."""
    options = ServeOptions(token=SECRET, allow_origins=("https://search.example.org",))
    with running([inn], options) as run:
        yield run


@pytest.mark.parametrize(
    "address", ["/", "/search", "/api/v1/health", "/api/v1/nothing", "/api/v1/openapi.json"]
)
def test_every_response_has_security_headers(server: Running, address: str) -> None:
    headers = server.client.get(address).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'self'" and policy["frame-ancestors"] == "'none'"
    assert (
        "unsafe" not in headers["content-security-policy"]
        and "http" not in headers["content-security-policy"]
    )
    assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
    assert not [name for name in headers if name.startswith("access-control-")]
    assert "server" not in headers


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "localhost.evil.example", "169.254.1.1", "127.0.0.1.nip.io:80", ""),
        *("[127.0.0.1]evil", "[127.0.0.1]", "[::1", "[::1]evil", "::1", "[", "localhost:8799@evil.example"),
        *("localhost:port", "localhost:1:2", "user@localhost", "localhost/x", "localhost..", "local host"),
    ],
)
@pytest.mark.parametrize("address", ["/", "/api/v1/search?q=sweep"])
def test_foreign_host_is_rejected_dns_rebinding(server: Running, host: str, address: str) -> None:
    """A page elsewhere can have its own name point to this machine; it can't change the Host header."""
    problem = checked(server.client.get(address, headers={"Host": host}), 421)
    assert problem["type"].endswith("wrong-host")


@pytest.mark.parametrize("host", ["localhost", "localhost:1234", "127.0.0.1:9", "[::1]:8742", "LOCALHOST."])
def test_own_host_names_are_accepted(server: Running, host: str) -> None:
    assert server.client.get("/api/v1/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://["},
        {"Origin": "http://[::1"},
        {"Origin": "//"},
        {"Origin": "http://\u2100".encode().decode("latin-1")},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
        *(
            {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": what}
            for site in ("cross-site", "same-site")
            for what in ("document", "iframe", "embed")
        ),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_cross_origin_requests_are_rejected_csrf(
    server: Running, headers: dict[str, str], method: str
) -> None:
    address = "/api/v1/search?q=sweep" if method == "GET" else "/api/v1/feedback"
    encoded = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = server.client.request(method, address, headers=encoded)
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert checked(answer, 403)["type"].endswith("wrong-origin")


def test_same_origin_requests_are_accepted(server: Running) -> None:
    own = {"Origin": server.url, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert server.client.get("/api/v1/health", headers=own).status_code == 200
    assert server.client.delete("/api/v1/feedback?visitor=nobody", headers=own).status_code == 200


def test_links_of_other_sites_lead_to_the_page_alone(server: Running) -> None:
    """Somebody sends the address of a search: opening it is no request of the page that it stands on."""
    follows = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert server.client.get("/search?q=bread", headers=follows).status_code == 200
    assert server.client.post("/search?q=bread", headers=follows).status_code == 403
    for what in ("iframe", "embed", "object", "frame", ""):
        framed = server.client.get("/search?q=bread", headers={**follows, "Sec-Fetch-Dest": what})
        assert checked(framed, 403)["type"].endswith("wrong-origin")


def test_allowed_origin_is_accepted(guarded: Running) -> None:
    headers = {"Origin": "https://search.example.org", "Host": "search.example.org"}
    bearer = {"Authorization": f"Bearer {SECRET}"}
    assert guarded.client.get("/api/v1/health", headers=headers | bearer).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": f"Bearer {SECRET}x"},
        {"Authorization": f"Bearer {SECRET[:-1]}"},
        {"Authorization": f"Basic {SECRET}"},
        {"Authorization": "Bearer"},
        {"Cookie": "dowse_1=x"},
        {"Authorization": "Bearer \xff\xfe"},
    ],
)
def test_api_requires_the_token(guarded: Running, headers: dict[str, str]) -> None:
    for address in ("/api/v1/search?q=sweep", "/metrics", "/api/v1/openapi.json", "/api/v1/none"):
        encoded = {name: value.encode("latin-1") for name, value in headers.items()}
        answer = httpx.get(guarded.url + address, headers=encoded)
        assert checked(answer, 401)["type"].endswith("no-token")
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "sweep" not in answer.text


def test_bearer_token_is_accepted(guarded: Running) -> None:
    answer = httpx.get(guarded.url + "/api/v1/health", headers={"Authorization": f"Bearer {SECRET}"})
    assert answer.status_code == 200
    assert httpx.get(guarded.url + f"/api/v1/health?token={SECRET}").status_code == 401


def test_token_may_have_any_characters() -> None:
    from dowse.services.web.access import AccessRules

    access = AccessRules(ServeOptions(token="schön 秘密"))
    sent = "Bearer schön 秘密".encode().decode("latin-1")  # as the server hands on what a client wrote
    own = {"host": "localhost"}
    assert access.check("GET", "/api/v1/health", {**own, "authorization": sent}) is None
    assert access.check("GET", "/api/v1/health", {**own, "authorization": "Bearer sch\xf6n"}) is not None


def test_token_in_the_url_becomes_a_cookie(guarded: Running) -> None:
    with httpx.Client(base_url=guarded.url) as browser:
        assert browser.get("/").status_code == 200  # the page itself is no secret
        opened = browser.get("/search", params={"q": "a b", "token": SECRET})
        assert opened.status_code == 303 and opened.headers["location"] == "/search?q=a+b"
        cookie = opened.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and SECRET not in cookie
        assert browser.get("/api/v1/health").status_code == 200
    with httpx.Client(base_url=guarded.url) as stranger:
        opened = stranger.get("/search", params={"token": "guess"})
        assert opened.status_code == 303 and "set-cookie" not in opened.headers
        assert stranger.get("/api/v1/health").status_code == 401


def test_no_open_redirect(guarded: Running) -> None:
    answer = httpx.get(guarded.url + "//evil.example/x?token=guess")
    assert answer.headers["location"].startswith("/evil.example")


def sent_raw(server: Running, address: str) -> str:
    """Ask for an address as it is: clients would tidy it up, or refuse."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as line:
        line.sendall(f"GET {address} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: line.recv(65536), b"")).decode()


def test_body_size_is_limited(server: Running) -> None:
    body = {"query": "x", "symbol": "x", "kind": "click", "visitor": "x" * 70_000}
    server.post("feedback", body, 413)
    chunks = (b"x" * 1000 for _ in range(100))
    answer = server.client.post(
        "/api/v1/feedback", content=chunks, headers={"Content-Type": "application/json"}
    )
    checked(answer, 413)
    assert " 414 " in sent_raw(server, f"/api/v1/search?q={'x' * 70_000}").split("\r\n")[0]


def test_only_json_is_read(server: Running) -> None:
    """A form of another site could be sent without asking; JSON can't."""
    answer = server.client.post(
        "/api/v1/reindex", content=b'{"index": null}', headers={"Content-Type": "text/plain"}
    )
    assert answer.status_code == 422
    for body in (b"{", b"[" * 50_000, b"\xff", b"null", b"3"):
        answer = server.client.post(
            "/api/v1/reindex", content=body, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code in (400, 422)
        checked(answer, answer.status_code)


def test_requests_that_cant_be_checked_are_rejected(
    inn: Index, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("unforeseen")

    with running([inn]) as run:
        monkeypatch.setattr("dowse.services.web.access.AccessRules.check", broken)
        answers = [run.client.get("/api/v1/health") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [400, 400]
    assert all("default-src 'self'" in answer.headers["content-security-policy"] for answer in answers)
    assert checked(answers[0], 400)["type"].endswith("bad-request")
    assert "Traceback" not in caplog.text and "RuntimeError" in caplog.text


def test_unknown_methods_and_urls(server: Running) -> None:
    checked(server.client.put("/api/v1/search"), 405)
    checked(server.client.get("/api/v1/reindex"), 405)
    other = server.client.put("/api/v1/feedback")
    checked(other, 405)
    assert other.headers["allow"] == "DELETE, GET, POST"
    checked(server.client.post("/", json={}), 405)
    checked(server.client.get("/api"), 404)
    checked(server.client.get("/api/../api/v1/nope"), 404)
    checked(server.client.get("/assets/nope.js"), 404)


@pytest.mark.parametrize(
    "address", ["/../pyproject.toml", "/..%2f..%2fapp.py", "/%2e%2e/app.py", "/assets/../../app.py"]
)
def test_no_file_outside_the_page_is_served(server: Running, address: str) -> None:
    answer = sent_raw(server, address)
    assert "create_app" not in answer and "[build-system]" not in answer
    assert answer.split()[1] in ("200", "404")


def test_what_is_loopback() -> None:
    assert all(map(is_loopback, ["127.0.0.1", "localhost", "::1", "[::1]", "127.1.2.3", "a.localhost"]))
    assert not any(
        map(is_loopback, ["0.0.0.0", "::", "192.168.0.1", "example.org", "localhost.example.org", ""])
    )


def test_host_is_checked_on_other_addresses(inn: Index) -> None:
    """Addresses can't be made to mean another machine; names can."""
    from dowse.services.web.access import AccessRules

    access = AccessRules(ServeOptions(host="0.0.0.0", token=SECRET))
    bearer = {"authorization": f"Bearer {SECRET}"}
    assert access.check("GET", "/api/v1/health", {"host": "192.168.0.7:8742", **bearer}) is None
    assert access.check("GET", "/api/v1/health", {"host": socket.gethostname(), **bearer}) is None
    refused = access.check("GET", "/api/v1/health", {"host": "evil.example", **bearer})
    assert refused is not None and refused.status == 421
