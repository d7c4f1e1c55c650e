"""Names of C++: macros in front of declarations, namespaces, smart pointers."""

from __future__ import annotations

from dowse.parsing.macros import blank_macros
from graph.resolve.world import world


def test_macros_do_not_hide_classes_and_functions(tmp_path):
    files = {
        "view.h": "LIB_BEGIN_NAMESPACE\nLIB_API class view {\n public:\n"
        "  LIB_CONSTEXPR auto size() -> int { return 1; }\n};\n"
        "class LIB_EXPORT box {\n public:\n  void open() {}\n};\n"
        "template <typename T>\nLIB_NODISCARD LIB_INLINE auto wrap(T x) -> view { return x; }\n"
        "LIB_END_NAMESPACE\n",
        "main.cc": '#include "view.h"\nvoid run(view v, box& b) {\n'
        "  v.size();\n  b.open();\n  lib::wrap(1);\n}\n",
    }
    with world(tmp_path, files) as graph:
        assert graph.calls() == {
            f"main.cc:run -> view.h:{name}" for name in ("view.size", "box.open", "wrap")
        }


def test_only_macros_before_declarations_are_blank():
    text = b"x = MAX_SIZE + f(y);\n#define LIB_API int f(int)\n#ifdef LIB_X\nint g();\nCHECK_EQ(a, b);\n"
    assert blank_macros(text) == text


def test_smart_pointers_and_documented_namespaces(tmp_path):
    files = {
        "a.h": "// All of it.\nnamespace shop {\nclass Cart {\n public:\n"
        "  void add() {}\n};\nvoid tidy() {}\n}\n",
        "main.cc": '#include "a.h"\nvoid run(std::unique_ptr<shop::Cart> c) {\n'
        "  c->add();\n  shop::tidy();\n}\n",
    }
    with world(tmp_path, files) as graph:
        assert {call for call in graph.calls() if "run" in call} == {
            "main.cc:run -> a.h:shop.Cart.add",
            "main.cc:run -> a.h:shop.tidy",
        }
