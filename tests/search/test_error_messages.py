"""A pasted error message finds the code that writes it."""

from __future__ import annotations

import pytest

from dowse import Index

from helpers import write_tree

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
    "src/server.c": """void createShared(void) {
    shared.noauth = create("-NOAUTH Authentication required.\\r\\n");
}
int openStore(const char *path) {
    if (fd < 0)
        logLine(LEVEL, "Can't open the append log %s: "
                       "giving up after %d attempts", path, tries);
    return 0;
}
static int streamTrim(stream *s) {
    debugAssert(s->length > 0);
    return 1;
}
""",
    "src/store.go": """package store

func Load(id int) error {
	return fmt.Errorf("tenant %d is not known to shard %q", id, name)
}
""",
    "src/Shop.java": """class Shop {
    void pay(Order order) {
        throw new IllegalStateException(
            "Order " + order.id() + " was already paid in full by " + order.payer());
    }
}
""",
    "src/shop.php": """<?php
function ship($parcel) {
    throw new RuntimeException("Parcel $parcel->code has no valid address label");
}
""",
    "src/Stock.cs": """class Stock {
    void Take(string item) {
        throw new InvalidOperationException($"Item {item} is out of stock since {Date:d}");
    }
}
""",
    "src/till.rb": """def close_till(till)
  raise TillError, "till #{till.number} still holds #{till.cash} in cash"
end
""",
    "tests/driver.rs": """#[test]
#[should_panic(expected = "timers are disabled, call `enable_time` to enable timers")]
fn panics() {}
""",
    "docs/errors.md": '# Errors\n\n"No procedure found on path" means that a path has no procedure.\n',
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    place = tmp_path_factory.mktemp("messages")
    with Index.open(
        write_tree(place / "shop", FILES), index_dir=str(place / "index"), encoder="none"
    ) as index:
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
        ("NOAUTH Authentication required.", "createShared"),
        ("(error) NOAUTH Authentication required.", "createShared"),
        ("-NOAUTH Authentication required.", "createShared"),
        ("Can't open the append log /var/a.log: giving up after 3 attempts", "openStore"),
        (
            "Nov 18 12:00:01 host shopd[12]: Can't open the append log a: giving up after 3 attempts",
            "openStore",
        ),
        ("==> src/server.c:11 's->length > 0' is not true", "streamTrim"),
        ("shopd: src/server.c:11: streamTrim: Assertion `s->length > 0' failed.", "streamTrim"),
        ("/usr/bin/shopd *:6379(streamTrim+0x1f4)[0x55d0c]", "streamTrim"),
        ("./shopd(_Z10streamTrimP6stream+0x1f4) [0x55d0c]", "streamTrim"),
        ('panic: tenant 7 is not known to shard "eu"', "Load"),
        ("2026/03/04 10:11:12 tenant 7 is not known to shard eu", "Load"),
        (
            'Exception in thread "main" java.lang.IllegalStateException: '
            "Order 3 was already paid in full by Ann",
            "pay",
        ),
        ("PHP Fatal error:  Uncaught RuntimeException: Parcel X-1 has no valid address label", "ship"),
        (
            "Unhandled exception. System.InvalidOperationException: Item nail is out of stock since 3/4/26",
            "Take",
        ),
        ("till.rb:2:in `close_till': till 4 still holds 12.50 in cash (TillError)", "close_till"),
        ("Parcel blue has no valid address label", "ship"),
    ],
)
def test_the_code_that_writes_a_message_comes_first(shop, pasted, name):
    first = shop.search(pasted).hits[0]
    assert first.symbol.qualified_name.removeprefix("Shop.").removeprefix("Stock.") == name
    assert any(each.source in ("message", "frame") for each in first.explanation)


def test_a_message_of_the_repository_or_a_filter_written_by_hand_stays_a_query(shop):
    for text in ("SomeError: full lang:rust", "timers are disabled, call enable_time lang:typescript"):
        hits = shop.search(text).hits
        assert {hit.symbol.language for hit in hits} <= {text.rpartition(":")[2]}


def test_a_few_words_in_common_do_not_make_it_the_message(shop):
    text = "IOError: does not permit further reading of the file that was named on the command line here"
    answer = shop.search(text)
    assert not any(each.source == "message" for hit in answer.hits for each in hit.explanation)


def test_a_dash_at_the_start_is_said(shop):
    as_message = shop.search("-NOAUTH Authentication required.")
    assert any("read as a message" in note.text for note in as_message.notes)
    as_exclusion = shop.search("-timers disabled handle")
    assert any("-timers" in note.text and "must not match" in note.text for note in as_exclusion.notes)


def test_questions_in_prose_have_no_message(shop):
    for question in ("where is a till closed", "how many items are out of stock", "driver time handle"):
        answer = shop.search(question)
        assert not any(each.source == "message" for hit in answer.hits for each in hit.explanation)
