"""Subjects of commits: what is left of them, and which ask something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.history.subjects import clean_subject, query_from_subject


@pytest.mark.parametrize(
    ("subject", "cleaned"),
    [
        ("Allow bytes in headers (#1234)", "Allow bytes in headers"),
        ("Allow bytes in headers (#12) (#34)", "Allow bytes in headers"),
        ("Allow bytes in headers (closes #12, refs #13)", "Allow bytes in headers"),
        ("[ci] Cache the wheels", "Cache the wheels"),
        ("[3.x] Cache the wheels [skip ci]", "Cache the wheels"),
        ("feat(router)!: match trailing slashes", "match trailing slashes"),
        ("fix: close idle sockets.", "close idle sockets"),
        ("Fixes #12: close idle sockets", "close idle sockets"),
        ("Close idle sockets, fixes #12", "Close idle sockets"),
        ("Close idle sockets. This fixes GH-12.", "Close idle sockets"),
        ("Fix issue 1027. Always persist cookies", "Always persist cookies"),
        ("Use detach. See https://example.org/x/1", "Use detach"),
        (":bug: 🐛 Quote the `path` of `send_file()`", "Quote the path of send_file()"),
        ("Read owner/name#12 chunks", "Read chunks"),
        ("net/http: keep the host", "net/http: keep the host"),
        ("Call f() and g[]", "Call f() and g[]"),
        ("Accept 200 and 404 (or 410)", "Accept 200 and 404 (or 410)"),
        ("Use ::before and :after: in std::vec", "Use ::before and in std::vec"),
        ("Encode spaces,\tthanks to @somebody", "Encode spaces"),
        ("", ""),
    ],
)
def test_only_the_statement_is_left(subject: str, cleaned: str) -> None:
    assert clean_subject(subject) == cleaned


@pytest.mark.parametrize(
    "subject",
    [
        "Allow using callables as default values",
        "Fix mypy plugin for frozen dataclasses",
        "Support passing environ to test client",
        "test runner isolates the file system",
        "Fix formatting of nested help text",
        "Merge cookies of session and request",
        "Discover versions of installed plugins",
        "Reverse the order of callbacks of blueprints",
        "release the connection back to its pool",
    ],
)
def test_statements_about_code_are_questions(subject: str) -> None:
    assert query_from_subject(subject, "Ada Baker <ada@example.org>") == subject


@pytest.mark.parametrize(
    "subject",
    [
        "Merge pull request #12 from ada/sockets-that-idle",
        "Merge branch 'main' into feature/idle-sockets",
        'Revert "Close idle sockets of pools"',
        "fixup! Close idle sockets of pools",
        "WIP: close idle sockets of pools",
        "Bump idna from 2.8 to 3.1 in /requirements",
        "Release version 2.3.0",
        "v2.3.0",
        "start version 2.4.0.dev",
        "Update pydantic-core to 2.1.2",
        "Fix typo in error message of sockets",
        "fix flake8 warnings in sessions",
        "run black on the code",
        "Remove unused imports",
        "Add type: ignore for pool sockets",
        "Add type hints to the session module",
        "Update changelog for idle sockets",
        "Add tests for idle sockets of pools",
        "ci: cache wheels between all jobs",
        "docs: describe idle sockets of pools",
        "Update README with idle sockets",
        "Address review comments about pool sockets",
        "Update app.py",
        "Fixes #123",
        "oops, forgot the pool sockets",
        "close sockets",
        "",
        "   ",
        "🎉 🎉 🎉",
        " ".join(["words"] + [f"about{number}" for number in range(40)]),
    ],
)
def test_what_names_no_place_in_the_code_is_no_question(subject: str) -> None:
    assert query_from_subject(subject) == ""


@pytest.mark.parametrize(
    "author",
    [
        "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
        "pre-commit-ci[bot] <66853113+pre-commit-ci[bot]@users.noreply.github.com>",
        "Renovate <renovate@whitesourcesoftware.com>",
        "github-actions <actions@github.com>",
    ],
)
def test_robots_ask_nothing(author: str) -> None:
    assert query_from_subject("Allow using callables as default values", author) == ""


@given(st.text(max_size=200))
def test_a_question_is_one_line_without_marks_of_code(subject: str) -> None:
    question = query_from_subject(subject)
    assert question == question.strip()
    assert "\n" not in question and "`" not in question
