"""Addresses of git repositories as people write them: `https://host/owner/name@ref`, `git@host:path`."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote

from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple
from dowse.source.git import is_commit_hash, is_ref_name, normalise_url

SCHEMES = ("https", "http", "ssh", "git", "file")
_URL = re.compile(rf"({'|'.join(SCHEMES)})://([^/]*)(/.*)", re.DOTALL)
_SCP = re.compile(r"([\w.-]+)@([\w.-]+|\[[0-9a-fA-F:.]+\]):(?!//)(.+)", re.DOTALL)
# What git would take for the name of a program, or a file descriptor.
_HELPER = re.compile(r"\A\s*[\w+-]+::")
_MAX_CHARACTERS = 2_000


class GitAddress(NamedTuple):
    """Where to fetch from, and what."""

    url: str  # for git alone: it may hold credentials
    ref: str = ""  # a branch, a tag or a full commit hash; "" for what the remote has checked out

    @property
    def shown(self) -> str:
        """The address without credentials, for names, messages and files."""
        return f"{without_credentials(self.url)}{f'@{self.ref}' if self.ref else ''}"

    @property
    def name(self) -> str:
        """A name for a folder."""
        name = normalise_url(without_credentials(self.url)).rpartition("/")[2] or "repository"
        return (
            re.sub(r"[^\w.-]+", "-", f"{name}@{self.ref}" if self.ref else name).lstrip("-.") or "repository"
        )


def is_address(word: str) -> bool:
    """Whether a word is the address of a git repository and not a path."""
    return _URL.fullmatch(word) is not None or _SCP.fullmatch(word) is not None or bool(_HELPER.match(word))


def parse_git_address(word: str) -> GitAddress:
    """Parse an address with an optional `@ref` at its end.

    Raises:
        DowseError: It is none, or one that git would run a program for.
    """
    url, scp = _URL.fullmatch(word), _SCP.fullmatch(word)
    if _HELPER.match(word) or word.startswith("-") or (url is None and scp is None):
        known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
        raise DowseError(f"{_shown(word)} is no address of a repository; write {known} or user@host:path")
    if len(word) > _MAX_CHARACTERS or not word.isprintable() or " " in word:
        raise DowseError(f"{_shown(word)} has characters that no address has, or too many")
    user, _, host = unquote(url[2] if url else scp[2] if scp else "").rpartition("@")  # git decodes it too
    if user.startswith("-") or host.lstrip("[").startswith("-"):
        raise DowseError(f"{_shown(word)} names no host: it can't begin with -")
    if not host and url is not None and url[1] != "file":
        raise DowseError(f"{_shown(word)} names no host")
    path = url[3] if url else scp[3] if scp else ""
    if path.startswith("-"):
        raise DowseError(f"{_shown(word)} names no repository: a path can't begin with -")
    before, at, ref = path.rpartition("@")
    if not at or (url is not None and url[1] == "file" and os.path.exists(path)):  # noqa: PTH110
        return GitAddress(word)
    if not is_safe_ref(ref):
        raise DowseError(f"{_shown(ref)} is no name of a branch or tag and no commit hash")
    return GitAddress(word[: len(word) - len(path)] + before, ref)


def is_safe_ref(ref: str) -> bool:
    """Whether a text can be a branch, a tag or a hash: no option, no expression of git."""
    return not ref.startswith(("-", "+", "/")) and (is_commit_hash(ref) or is_ref_name(f"refs/heads/{ref}"))


def without_credentials(url: str) -> str:
    """Return a URL without user and password; the user of `git@host:path` stays, being no secret."""
    match = _URL.fullmatch(url)
    if match is None:
        return url
    user, at, host = match[2].rpartition("@")
    name = user.partition(":")[0]
    # Over ssh the user is part of the address; in a URL of the web it is often a token.
    kept = f"{name}@" if at and match[1] == "ssh" else ""
    return f"{match[1]}://{kept}{host}{match[3].partition('?')[0]}"


def _shown(word: str) -> str:
    return without_credentials(word)[:200]
