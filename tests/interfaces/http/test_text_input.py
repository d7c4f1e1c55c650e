"""What clients send that is no text, or that belongs to somebody else: answered, and never with a 500."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Index
from dowse.services.web.access import AccessRules, cookie_pairs
from dowse.services.web.options import ServeOptions
from interfaces.http.running import Running, running

SECRET = "correct horse battery staple"


@pytest.fixture
def access() -> AccessRules:
    return AccessRules(ServeOptions(token=SECRET))


def let_in(access: AccessRules, cookies: str) -> bool:
    headers = {"host": "localhost", "cookie": cookies}
    return access.check("GET", "/api/v1/search", headers) is None


@pytest.mark.parametrize(
    "others",
    [
        *(
            'state={"a":1}',
            'state={"a": [1, 2]}; theme="dark',
            "a=b=c; d",
            "=nameless",
            "no value",
            "@;,;[]=1",
        ),
        *("caf\xe9=\xff", "a\x00b=1", "x=1;;; ;y", 'q="a; b"', "$Version=1", ";" * 50, "a=" + "x" * 4000, ""),
    ],
)
def test_cookies_of_other_applications_do_not_matter(access: AccessRules, others: str) -> None:
    ours = access.cookie(is_https=False).partition(";")[0]
    name, _, value = ours.partition("=")
    assert let_in(access, f"{others}; {ours}") and let_in(access, f"{ours}; {others}")
    assert let_in(access, f'{others};{name}="{value}";{others}')
    assert not let_in(access, others) and not let_in(access, f"{others}; {name}=wrong")


def test_one_right_cookie_of_several_is_enough_and_none_can_be_guessed(access: AccessRules) -> None:
    name, _, value = access.cookie(is_https=False).partition(";")[0].partition("=")
    assert let_in(access, f"{name}=old; {name}={value}") and let_in(access, f"{name}={value}; {name}=old")
    for wrong in (
        f"{name}=",
        name,
        f"x{name}={value}",
        f"{name}={value[:-1]}",
        f"{name}={value}x",
        f"{name}=\xff",
    ):
        assert not let_in(access, wrong)


def test_cookies_are_split_at_semicolons_alone() -> None:
    assert cookie_pairs('a=1; b={"x":"y,z"};c="q" ; d; =e') == [
        *(("a", "1"), ("b", '{"x":"y,z"}'), ("c", "q"), ("", "e")),
    ]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of a folder whose name is not UTF-8."""
    root = Path(os.fsdecode(os.fsencode(tmp_path_factory.mktemp("odd")) + b"/re\xffpo"))
    try:
        root.mkdir()
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    (root / "a.py").write_text("def alpha():\n    return 1\n")
    index = Index.open(root, index_dir=str(tmp_path_factory.mktemp("odd-index") / "i"), refresh="never")
    index.update()
    with running([index]) as run:
        yield run


@pytest.mark.parametrize(
    "address",
    [
        *(
            "/api/v1/status",
            "/api/v1/search?q=alpha",
            "/api/v1/search?q=%FF",
            "/api/v1/search?q=%ED%A0%80&index=%FF",
        ),
        *(
            "/api/v1/symbol?symbol=%FF",
            "/api/v1/symbol?symbol=a.py:1",
            "/api/v1/suggest?q=%ED%A0%80",
            "/api/v1/%FF%0d%0aX:1",
        ),
    ],
)
def test_undecodable_urls_are_answered(odd: Running, address: str) -> None:
    answer = odd.client.get(address)
    assert answer.status_code < 500, answer.text
    json.loads(answer.content.decode())


@pytest.mark.parametrize(
    "body",
    [
        b'{"query": "\\ud800", "symbol": "\\udfff", "\\ud800": 1}',
        b'"\\ud800"',
        b"\xff\xfe",
        b'{"\\ud800": 1}',
    ],
)
@pytest.mark.parametrize("address", ["/api/v1/feedback", "/api/v1/reindex"])
def test_undecodable_bodies_are_answered(odd: Running, address: str, body: bytes) -> None:
    answer = odd.client.post(address, content=body, headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500, answer.text
    json.loads(answer.content.decode())


def test_no_header_repeats_what_was_sent(odd: Running) -> None:
    for address in (
        "/x%0d%0aSet-Cookie:evil=1?token=x",
        "/?token=x&a=%0d%0aLocation:evil",
        "/api/v1/evil%0a",
    ):
        for name, value in odd.client.get(address, follow_redirects=False).headers.items():
            assert "\n" not in value and "evil" not in name
