"""What is kept of a commit's body, and of what it added to a change log."""

from __future__ import annotations

import pytest

from dowse_training.outcomes.messages import MAX_BODY_CHARACTERS, added_news, clean_body, is_news_file

QUERY = "dough rises for ever when the yeast is missing"


@pytest.mark.parametrize(
    "line",
    [
        "Signed-off-by: Ada Baker <ada@example.org>",
        "Co-authored-by: Bo <bo@example.org>",
        "Change-Id: I0123456789abcdef",
        "Fixes: #12",
        "Closes https://example.org/issues/12",
        "(cherry picked from commit 0123456789abcdef)",
        "https://example.org/issues/12",
        "---------",
        "- [x] I ran the tests",
        "* fix lint",
        f"* fix: {QUERY}",
    ],
)
def test_a_line_that_says_nothing_is_left_out(line):
    assert clean_body(f"The oven waited.\n\n{line}\n", QUERY) == "The oven waited."


@pytest.mark.parametrize(
    "body",
    [
        "The oven waited for a temperature that nobody measured.",
        "Traceback (most recent call last):\n  KeyError: 'yeast'",
        "* The oven waits for the yeast at most an hour",
        "Note: the crumb is now lighter.",
    ],
)
def test_prose_stays(body):
    assert clean_body(body, QUERY) == body


def test_a_long_body_is_cut_between_words():
    body = clean_body("crumb " * 1_000, QUERY)
    assert len(body) <= MAX_BODY_CHARACTERS
    assert set(body.split()) == {"crumb"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("CHANGELOG.md", True),
        ("docs/changes.rst", True),
        ("NEWS", True),
        ("newsfragments/12.bugfix.rst", True),
        ("changelog.d/12.fix", True),
        (".changeset/brave-dough.md", True),
        ("src/news/feed.py", False),
        ("src/history.py", False),
        ("README.md", False),
    ],
)
def test_news_files_are_known_by_their_path(path, expected):
    assert is_news_file(path) is expected


def test_the_added_entry_is_a_sentence_without_marks():
    before = "# Changes\n\n## 1.0 (2024-01-01)\n\n- First loaf.\n"
    after = (
        "# Changes\n\n## 1.1 (2024-02-01)\n\n"
        "- Dough without yeast is refused, and\n  no longer rises for ever ([#12](https://example.org/12)).\n\n"
        "## 1.0 (2024-01-01)\n\n- First loaf.\n"
    )
    assert added_news(before, after) == "Dough without yeast is refused, and no longer rises for ever"


def test_markup_and_credits_of_a_fragment_are_left_out():
    fragment = "Release type: minor\n\nMade :class:`~bakery.Oven` heat up faster -- by :user:`ada`.\n"
    assert added_news("", fragment) == "Made bakery.Oven heat up faster"


def test_several_entries_and_headings_alone_are_no_news():
    entries = "- The oven is lit at four in the morning.\n- The dough is mixed by hand again.\n"
    assert added_news("", entries) == ""
    assert added_news("", "## 1.1 (2024-02-01)\n\nBug fixes\n") == ""
