"""A pasted error message finds the code that writes it."""

from __future__ import annotations

import pytest

from dowse import Index

DISABLED = "timers are disabled, call `enable_time` to enable timers"
FILES = {
    "src/lookup.ts": """export function findProcedure(path: string) {
  throw new TRPCError({ message: `No procedure found on path "${path}"` });
}
export function procedurePath(path: string) {
  return path.split(".");
}
""",
    "src/limits.py": '''class Bulkhead:
    def enter(self):
        raise Full("Bulkhead '%s' is full and does not permit further calls" % self.name)


class Breaker:
    """A circuit breaker."""

    def enter(self):
        raise Open("Breaker '%s' is %s and does not permit further calls" % (self.name, self.state))
''',
    "src/driver.rs": """impl Handle {
    cfg_time! {
        /// The time driver.
        pub(crate) fn time(&self) -> &Timer {
            self.time.as_ref().expect("timers are disabled, call `enable_time` to enable timers")
        }
    }
}
""",
    "tests/driver.rs": """#[test]
#[should_panic(expected = "timers are disabled, call `enable_time` to enable timers")]
fn panics() {}
""",
    "docs/errors.md": '# Errors\n\n"No procedure found on path" means that a path has no procedure.\n',
}


@pytest.fixture
def shop(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with Index.open(tmp_path / "shop", encoder="none") as index:
        index.update()
        yield index


@pytest.mark.parametrize(
    ("pasted", "name"),
    [
        ('TRPCError: No procedure found on path "user.byId"', "findProcedure"),
        ("Open: error: Breaker 'payments' is half-open and does not permit further calls", "Breaker.enter"),
        ("app.Full[ERROR]: Bulkhead 'a b c' is full and does not permit further calls", "Bulkhead.enter"),
        (f"thread 'main' panicked at src/main.rs:9:5: {DISABLED}", "Handle.time"),
        (f"thread 'main' panicked at src/main.rs:9:5:\n{DISABLED}\n", "Handle.time"),
    ],
)
def test_the_code_that_writes_a_message_comes_first(shop, pasted, name):
    first = shop.search(pasted).hits[0]
    assert first.symbol.qualified_name == name
    assert any(each.source == "message" for each in first.explanation)


def test_a_message_of_the_repository_or_a_filter_written_by_hand_stays_a_query(shop):
    assert not any(hit.symbol.language == "python" for hit in shop.search("SomeError: full lang:rust").hits)


def test_a_few_words_in_common_do_not_make_it_the_message(shop):
    text = "IOError: does not permit further reading of the file that was named on the command line here"
    answer = shop.search(text)
    assert not any(each.source == "message" for hit in answer.hits for each in hit.explanation)
