"""The fields of long texts: what is read of a report, and what is left out."""

from __future__ import annotations

from dowse.query.long_text import names_in, read_long_text

REPORT = """\
Session.close hangs when the pool is empty

<!-- please search first -->
### Describe the bug
When the last connection of the pool was closed by the server, calling `Session.close` never comes back.
It seems that release_connection waits for a lock which nobody holds, so that the program has to be killed.

> did you try the latest version?

### Steps to reproduce

```python
session = Session(pool_size=1)
session.close()
```

PoolTimeout: TimeoutError: no connection within 30 seconds

### Environment
python version: 3.11.4
os: Linux
fancypool: 2.1.0

- [x] I have searched the issues
See https://example.com/fancy/pool/issues/12
Fixes #12
Signed-off-by: A Person <person@example.com>
"""


def test_a_report_is_read_by_its_fields():
    report = read_long_text(REPORT)
    assert report is not None
    assert report.text("title") == "Session.close hangs when the pool is empty"
    assert report.text("code") == "session = Session(pool_size=1)\nsession.close()"
    assert report.text("error") == "PoolTimeout: TimeoutError: no connection within 30 seconds"
    assert report.text("prose").startswith("When the last connection")
    assert report.text("prose").endswith("has to be killed.")
    assert report.summary == "its title and lines of prose (2), error (1), code (2)"


def test_names_are_those_in_backticks_or_of_the_shape_of_code():
    assert names_in("calls `render` and release_connection() of a.Session, not others") == [
        "render",
        "release_connection",
        "a.Session",
    ]


def test_short_texts_and_output_without_prose_are_no_long_texts():
    assert read_long_text("Session.close hangs when the pool is empty") is None
    assert read_long_text("```\n" + "at call (app.js:1:2)\n" * 40 + "```") is None
