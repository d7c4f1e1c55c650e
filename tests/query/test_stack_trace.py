"""Pasted traces, compiler output and diffs: their frames, innermost first, and their message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.query.stack_trace import Frame, parse_stack_trace

PYTHON = """Traceback (most recent call last):
  File "/app/src/main.py", line 10, in <module>
    main()
  File "/usr/lib/python3/site-packages/shop/cart.py", line 57, in add
    return int(text)
           ^^^^^^^^^
ValueError: invalid literal for int() with base 10: 'x'
"""
NODE = """node:internal/process/promises:394
    triggerUncaughtException(err, true /* fromPromise */);
    ^

TypeError: Cannot read properties of undefined (reading 'foo')
    at Layer.handle [as handle_request] (/app/node_modules/shop/lib/layer.js:95:5)
    at async file:///app/x.mjs:3:4
    at node:internal/process/task_queues:105:5
"""
JAVA = """Exception in thread "main" org.shop.SyntaxException: bad number
\tat org.shop.json.Reader$7.read(Reader.java:201)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.lang.NumberFormatException: For input string: "a"
\tat org.shop.json.Lexer.number(Lexer.java:1200)
\t... 4 more"""
GO = """panic: runtime error: index out of range [3] with length 2

goroutine 1 [running]:
github.com/acme/shop.(*Cart).Add(0xc000, {0x1, 0x2})
\t/root/go/pkg/mod/github.com/acme/shop@v1.8.0/cart.go:111 +0x1d
main.main()
\t/app/main.go:12 +0x1d
exit status 2"""
RUST = """thread 'main' panicked at shop/src/cart.rs:120:13:
Paths must start with a slash
stack backtrace:
   0: rust_begin_unwind
             at /rustc/abc/library/std/src/panicking.rs:645:5
   1: shop::cart::Cart<S>::route
             at ./shop/src/cart.rs:120:13
"""
CSHARP = """Unhandled exception. System.ArgumentNullException: Value cannot be null. (Parameter 'cart')
   at Shop.Cart.Query[T](IDbConnection cart, String sql) in /src/Shop/Cart.cs:line 800
   at Program.Main()"""
RUBY = """/app/lib/shop/builder.rb:12:in `parse_file': bad config (ArgumentError)
\tfrom /app/lib/shop/server.rb:40:in 'Shop::Server#start'"""
PHP = """PHP Fatal error:  Uncaught InvalidArgumentException: bad level in /app/src/Shop/Cart.php:12
Stack trace:
#0 /app/x.php(3): Shop\\Cart->add()
#1 {main}
  thrown in /app/src/Shop/Cart.php on line 12"""
GDB = """#0  __pthread_kill (threadid=<optimized out>, signo=6) at ./nptl/pthread_kill.c:44
#1  0x00007ffff7 in cart_add (cart=0x5555, mode=ADD) at src/unix/cart.c:430"""
ASAN = """==123==ERROR: AddressSanitizer: heap-use-after-free on address 0x60
    #0 0x55 in cart_close /home/u/shop/src/unix/cart.c:300:5
    #1 0x7f in __libc_start_main (/lib/x86_64-linux-gnu/libc.so.6+0x29d8f)"""
ELIXIR = """** (FunctionClauseError) no function clause matching in Shop.Cart.put/3
    (shop 1.15.0) lib/shop/cart.ex:720: Shop.Cart.put(%Shop.Cart{}, :a)"""
PYTEST = """>       assert run(cli).exit_code == 0
E       assert 2 == 0

tests/test_cart.py:12: AssertionError
FAILED tests/test_cart.py::test_add - assert 2 == 0"""
ESLINT = """/app/lib/cart.js
  12:5  error  'foo' is not defined  no-undef

✖ 1 problem"""
DIFF = """diff --git a/src/cart.py b/src/cart.py
index 123..456 100644
--- a/src/cart.py
+++ b/src/cart.py
@@ -100,3 +100,4 @@ def add():
 a
 b
+    value = convert(x)
 c"""


@pytest.mark.parametrize(
    ("text", "source", "first", "message"),
    [
        (
            PYTHON,
            "Python traceback",
            Frame("/usr/lib/python3/site-packages/shop/cart.py", 57, "add"),
            "ValueError: invalid",
        ),
        (
            NODE,
            "JavaScript stack trace",
            Frame("/app/node_modules/shop/lib/layer.js", 95, "Layer.handle [as handle_request]"),
            "TypeError: Cannot",
        ),
        (
            JAVA,
            "Java stack trace",
            Frame("org/shop/json/Lexer.java", 1200, "org.shop.json.Lexer.number"),
            "NumberFormatException",
        ),
        (
            GO,
            "Go stack trace",
            Frame(
                "/root/go/pkg/mod/github.com/acme/shop@v1.8.0/cart.go",
                111,
                "github.com/acme/shop.(*Cart).Add",
            ),
            "index out of range",
        ),
        (RUST, "Rust backtrace", Frame("shop/src/cart.rs", 120), "Paths must start with a slash"),
        (
            "error[E0308]: mismatched types\n  --> shop/src/json.rs:12:5\n   |",
            "Rust output",
            Frame("shop/src/json.rs", 12),
            "mismatched types",
        ),
        (
            CSHARP,
            "C# stack trace",
            Frame("/src/Shop/Cart.cs", 800, "Shop.Cart.Query[T](IDbConnection cart, String sql)"),
            "Value cannot be null",
        ),
        (RUBY, "Ruby stack trace", Frame("/app/lib/shop/builder.rb", 12, "parse_file"), "bad config"),
        (PHP, "PHP error", Frame("/app/src/Shop/Cart.php", 12), "bad level"),
        (
            ASAN,
            "sanitizer report",
            Frame("/home/u/shop/src/unix/cart.c", 300, "cart_close"),
            "heap-use-after-free",
        ),
        (ELIXIR, "Elixir stack trace", Frame("lib/shop/cart.ex", 720, "Shop.Cart.put"), "no function clause"),
        (PYTEST, "pytest output", Frame("tests/test_cart.py", 12), "assert 2 == 0"),
        (ESLINT, "linter output", Frame("/app/lib/cart.js", 12), "'foo' is not defined"),
        (DIFF, "diff", Frame("src/cart.py", 102), "value = convert(x)"),
        (
            "include/shop.h:12:5: error: no matching function",
            "compiler output",
            Frame("include/shop.h", 12),
            "no matching function",
        ),
        (
            "src/cart.ts(12,5): error TS2322: Type 'string' is not",
            "compiler output",
            Frame("src/cart.ts", 12),
            "Type 'string'",
        ),
        (
            "\x1b[96msrc/cart.ts\x1b[0m:\x1b[93m12\x1b[0m:\x1b[93m5\x1b[0m - error TS1",
            "compiler output",
            Frame("src/cart.ts", 12),
            "error TS1",
        ),
        (
            " ❯ packages/shop/cart.test.ts:12:20",
            "JavaScript stack trace",
            Frame("packages/shop/cart.test.ts", 12),
            "",
        ),
        (
            "--- FAIL: TestAdd (0.00s)\n    cart_test.go:45: expected x",
            "compiler output",
            Frame("cart_test.go", 45),
            "expected x",
        ),
        (
            "[ERROR]   CartTest.adds:45 expected:<1> but was:<2>",
            "test output",
            Frame("CartTest.java", 45, "CartTest.adds"),
            "expected:<1>",
        ),
        ("src/cart.py:120", "compiler output", Frame("src/cart.py", 120), ""),
    ],
)
def test_frames_and_message(text, source, first, message):
    trace = parse_stack_trace(text)
    assert trace is not None
    assert (trace.source, trace.frames[0]) == (source, first)
    assert message in trace.message
    assert "Traceback" not in trace.message


def test_frames_of_debuggers_come_in_their_order():
    assert [frame.function for frame in parse_stack_trace(GDB).frames] == ["__pthread_kill", "cart_add"]


@pytest.mark.parametrize(
    "text",
    [
        "parse cookie header",
        "where is version 2.0 of config.toml read",
        "what calls cart.py:12",
        "localhost:8080 in settings.py",
        "lang:python retry -test",
        "how does it count to 10:30 in the log",
        "fix #123: crash on start",
    ],
)
def test_questions_are_no_traces(text):
    assert parse_stack_trace(text) is None


@given(st.text(alphabet=st.sampled_from("aB.:/()\"'#@+-> \n\t\\0x1~é"), max_size=300))
def test_any_text_is_read_without_an_error(text):
    trace = parse_stack_trace(text)
    assert trace is None or trace.frames


def test_a_long_log_is_read_at_its_beginning_and_its_end():
    log = "2026-01-01 12:00:00 still fine\n" * 200_000
    trace = parse_stack_trace(log + PYTHON)
    assert trace.frames[0].function == "add"
    assert len(trace.message) <= 400
