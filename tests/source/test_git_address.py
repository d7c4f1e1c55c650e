"""Addresses of repositories: what is one, what is refused, and what is never shown."""

from __future__ import annotations

import pytest

from dowse.errors import DowseError
from dowse.source.git_address import is_address, parse_git_address


@pytest.mark.parametrize(
    ("word", "url", "ref"),
    [
        ("https://example.org/acme/shop", "https://example.org/acme/shop", ""),
        ("https://example.org/acme/shop.git@v1.2", "https://example.org/acme/shop.git", "v1.2"),
        ("https://example.org/acme/shop@feature/x", "https://example.org/acme/shop", "feature/x"),
        ("https://me:pass@example.org/acme/shop", "https://me:pass@example.org/acme/shop", ""),
        ("ssh://git@example.org:22/acme/shop@main", "ssh://git@example.org:22/acme/shop", "main"),
        ("git@example.org:acme/shop@main", "git@example.org:acme/shop", "main"),
        ("file:///srv/shop.git", "file:///srv/shop.git", ""),
        (f"git://example.org/shop@{'ab' * 20}", "git://example.org/shop", "ab" * 20),
    ],
)
def test_an_address_is_a_url_and_a_ref(word, url, ref):
    assert is_address(word)
    assert parse_git_address(word) == (url, ref)


@pytest.mark.parametrize(
    "word",
    [
        *("ext::sh -c 'touch x'", "fd::17", "https://-oProxyCommand=x/y", "git@-host:x", "git@host:-x"),
        *("ssh://%2doProxyCommand=x/y", "ssh://u@%2Dx/y", "ssh://-oProxyCommand=x@host/y", "ssh://[-x]/y"),
        *("https://host/x@--upload-pack=touch", "https://host/x@-x", "https://host/x@a..b", "https:///x"),
        *("https://host/x@a:b", "https://host/x@+a", "https://host/x\n", "-x", "src", "https://host/a b"),
    ],
)
def test_what_git_could_run_is_refused(word):
    with pytest.raises(DowseError):
        parse_git_address(word)


@pytest.mark.parametrize("word", ["src", "./a:b", "C:/x", "key: value", "a@b", "host:path"])
def test_paths_are_no_addresses(word):
    assert not is_address(word)


def test_credentials_are_never_shown():
    address = parse_git_address("https://me:s3cret@example.org/acme/shop@main")
    assert address.shown == "https://example.org/acme/shop@main"
    assert address.name == "shop-main"
    with pytest.raises(DowseError) as error:
        parse_git_address("https://me:s3cret@example.org/a b")
    assert "s3cret" not in str(error.value)
