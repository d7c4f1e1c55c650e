"""C and C++: variants of a function for other platforms."""

from __future__ import annotations

import pytest

from dowse.graph.platforms import platform_branches
from graph.resolve.world import world


def confidences(graph) -> dict[str, str]:
    return {
        target.partition(":")[0]: confidence
        for _, _, target, _, _, confidence, _ in graph.named_edges("calls")
    }


def test_the_usual_platform_is_resolved_and_others_stay_possible(tmp_path):
    files = {
        "src/unix/core.c": "int run_it(void) { return 1; }\n",
        "src/win/core.c": "int run_it(void) { return 2; }\n",
        "test/a.c": "int main(void) { return run_it(); }\n",
    }
    with world(tmp_path, files) as graph:
        assert confidences(graph) == {"src/unix/core.c": "resolved", "src/win/core.c": "ambiguous"}


def test_a_replacement_for_another_platform_is_only_possible(tmp_path):
    files = {
        "src/os390.c": "int sem_post(int s) { return s; }\n",
        "src/thread.c": "int up(int s) { return sem_post(s); }\n",
    }
    with world(tmp_path, files) as graph:
        assert confidences(graph) == {"src/os390.c": "ambiguous"}


def test_a_function_is_preferred_to_the_macro_that_replaces_it(tmp_path):
    files = {
        "src/internal.h": "#define probe(x) (0)\n",
        "src/linux.c": "int probe(int x) { return x; }\n",
        "src/fs.c": "int stat_it(void) { return probe(1); }\n",
    }
    with world(tmp_path, files) as graph:
        assert confidences(graph) == {"src/linux.c": "resolved", "src/internal.h": "ambiguous"}


def test_a_macro_that_replaces_a_system_function_on_another_platform_is_only_possible(tmp_path):
    files = {
        "compat.h": "#ifndef _WIN32\n#include <s.h>\n#else\n#define send(s, b) win_send(s, b)\n#endif\n",
        "net.c": '#include "compat.h"\nint put(int s) { return send(s, 0); }\n',
    }
    with world(tmp_path, files) as graph:
        assert confidences(graph) == {"compat.h": "ambiguous"}


@pytest.mark.parametrize(
    ("condition", "platforms"),
    [
        ("#ifdef _WIN32", ["win32"]),
        ("#if defined(__APPLE__) || defined(__FreeBSD__)", ["apple", "freebsd"]),
        ("#if defined(_WIN32) && !defined(__CYGWIN__)", ["win32"]),
        ("#if defined(__linux__) || defined(__APPLE__)", []),
        ("#ifndef _WIN32", []),
        ("#if !defined(_WIN32) // not _WIN32", []),
        ("#ifndef _WIN32\n#else", ["win32"]),
        ("#ifdef __linux__\n#else", []),
        ("#if HAVE_X\n#elif defined(_WIN32)", ["win32"]),
    ],
)
def test_the_platforms_of_a_condition(condition, platforms):
    text = f"{condition}\nint f(void);\n#endif\n"
    found = [each for branch in platform_branches(text) for each in sorted(branch.platforms)]
    assert found == platforms


def test_static_functions_of_an_included_source_are_visible(tmp_path):
    files = {
        "table.c": "static int find_it(int k) { return k; }\n",
        "other.c": "static int find_it(int k) { return k + 1; }\n",
        "main.c": '#include "table.c"\nint main(void) { return find_it(1); }\n',
    }
    with world(tmp_path, files) as graph:
        assert confidences(graph) == {"table.c": "resolved"}
