"""Functions that are passed on or stored are possible calls."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

# Files, and the calls between their symbols.
CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "c: tables, structs, arguments, variables and results": (
        {
            "a.c": "static int my_open(int x) { return x; }\n"
            "static int my_close(int x) { return x; }\n"
            "static int my_read(int x) { return x; }\n"
            "static ops table = { .open = my_open, .close = &my_close };\n"
            "static fn list[] = { my_read, NULL };\n"
            "fn pick(void) { return my_read; }\n"
            "void set(ops* o) { o->open = my_open; }\n"
            "int start(void) { return visit(my_open, (fn) my_close); }\n",
        },
        {
            "a.c:a -> a.c:my_open (possible)",
            "a.c:a -> a.c:my_close (possible)",
            "a.c:a -> a.c:my_read (possible)",
            "a.c:pick -> a.c:my_read (possible)",
            "a.c:set -> a.c:my_open (possible)",
            "a.c:start -> a.c:my_open (possible)",
            "a.c:start -> a.c:my_close (possible)",
        },
    ),
    "c: a variable hides a function": (
        {
            "a.c": "int size(void) { return 1; }\nint run(int size) { return visit(size); }\n",
            "b.c": "int use(int other) { int size = 1; return visit(size, other); }\nint other(void);\n",
        },
        set(),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_possible_calls(tmp_path, name):
    files, expected = CASES[name]
    with world(tmp_path, files) as graph:
        assert graph.calls() == expected
