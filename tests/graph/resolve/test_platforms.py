"""C and C++: variants of a function for other platforms."""

from __future__ import annotations

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


def test_code_for_a_platform_calls_its_own_variant(tmp_path):
    files = {
        "src/unix/core.c": "int run_it(void) { return 1; }\n",
        "src/win/core.c": "int run_it(void) { return 2; }\n",
        "test/win/a.c": "int main(void) { return run_it(); }\n",
    }
    with world(tmp_path, files) as graph:
        assert confidences(graph)["src/win/core.c"] != "ambiguous"


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
