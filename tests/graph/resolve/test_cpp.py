"""Names of C++: macros in front of declarations, namespaces, smart pointers."""

from __future__ import annotations

import pytest

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


def test_macros_for_attributes_and_access_do_not_end_a_class(tmp_path):
    source = (
        "class LOCKABLE Mutex {\n public:\n  void lock() {}\n"
        "LIB_PRIVATE_UNLESS_TESTED:\n  void check() { lock(); }\n"
        "  LIB_PRIVATE :\n  void again() { check(); }\n};\nvoid run(Mutex* m) { m->lock(); m->again(); }\n"
    )
    with world(tmp_path, {"a.cc": source}) as graph:
        assert graph.calls() == {
            "a.cc:Mutex.check -> a.cc:Mutex.lock",
            "a.cc:Mutex.again -> a.cc:Mutex.check",
            "a.cc:run -> a.cc:Mutex.lock",
            "a.cc:run -> a.cc:Mutex.again",
        }


def test_the_body_of_a_test_is_a_method_of_its_fixture(tmp_path):
    source = (
        "class Bread {\n public:\n  void bake() {}\n};\n"
        "class Oven : public testing::Test {\n public:\n  void heat() {}\n  Bread* bread_;\n};\n"
        "class Kiln {\n public:\n  void heat() {}\n};\n"
        "TEST_F(Oven, Hot) {\n  heat();\n  bread_->bake();\n  this->heat();\n}\n"
    )
    with world(tmp_path, {"a_test.cc": source}) as graph:
        assert graph.calls() == {
            "a_test.cc:TEST_F -> a_test.cc:Oven.heat",
            "a_test.cc:TEST_F -> a_test.cc:Bread.bake",
        }


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


SHOP = "namespace shop {\nclass Cart {\n public:\n  void add() {}\n};\nint tidy(int x) { return x; }\n}\n"


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("using namespace shop;\nvoid run(Cart c) { c.add(); tidy(1); }", "Cart.add tidy"),
        ("using shop::tidy;\nvoid run() { tidy(1); }", "tidy"),
        ("namespace s = shop;\nvoid run() { s::tidy(1); }", "tidy"),
        ("typedef shop::Cart Basket;\nvoid run(Basket b) { b.add(); }", "Cart.add"),
        ("void run() { auto c = new shop::Cart; c->add(); }", "Cart Cart.add"),
        ("void run() { auto c = static_cast<shop::Cart*>(0); c->add(); }", "Cart.add"),
        ("void run() { shop::Cart{}.add(); }", "Cart Cart.add"),
        ("void run(std::vector<shop::Cart> v) { for (auto& c : v) c.add(); }", "Cart.add"),
        ("void run(std::map<int, shop::Cart> m) { auto i = m.find(1); i->second.add(); }", "Cart.add"),
        ("void run() { shop::Cart c(std::move(old)); c.add(); }", "Cart.add"),
        ("void run() { LIB_IF(x) { shop::tidy(1); } else { shop::tidy(2); } }", "tidy"),
    ],
)
def test_names_and_receivers(tmp_path, body, called):
    with world(tmp_path, {"shop.hpp": SHOP, "main.cc": f'#include "shop.hpp"\n{body}\n'}) as graph:
        assert {call for call in graph.calls() if "run" in call} == {
            f"main.cc:run -> shop.hpp:shop.{name}" for name in called.split()
        }


def test_names_relative_to_namespaces_around_and_inline_namespaces(tmp_path):
    files = {
        "a.hpp": "namespace a {\ninline namespace v1 {\nnamespace b {\nint f(int x) { return x; }\n}\n"
        "int run() { return b::f(1); }\n}\n}\n",
        "main.cc": "int run() { return a::b::f(1); }\n",
    }
    with world(tmp_path, files) as graph:
        assert graph.calls() == {"a.hpp:a.run -> a.hpp:a.b.f", "main.cc:run -> a.hpp:a.b.f"}


def test_overloads_of_headers_that_are_not_included_are_not_meant(tmp_path):
    files = {
        "include/lib/a.hpp": "template <class T> int print(T x) { return 1; }\n",
        "include/lib/b.hpp": "template <class T> int print(T* x) { return 2; }\n",
        "single_include/lib.hpp": "template <class T> int print(T x) { return 1; }\n",
        "test/main.cc": "#include <lib/a.hpp>\nvoid run() { print(1); }\n",
    }
    with world(tmp_path, files) as graph:
        assert graph.calls() == {"test/main.cc:run -> include/lib/a.hpp:print"}


BOX = (
    "template <typename A = int>\nclass basic_box {\n public:\n"
    "  static basic_box parse(int i) { return i; }\n  int get() const { return 1; }\n};\n"
)
BOXES = {
    "include/lib/fwd.hpp": "LIB_NAMESPACE_BEGIN\ntemplate <typename A>\nclass basic_box;\n"
    "using box = basic_box<>;\nLIB_NAMESPACE_END\n",
    "include/lib/box.hpp": f"#include <lib/fwd.hpp>\nLIB_NAMESPACE_BEGIN\n{BOX}LIB_NAMESPACE_END\n",
    "tests/old_box.hpp": f"namespace lib {{\n{BOX}using box = basic_box<>;\n}}\n",
    # More than are compared.
    **{f"docs/{i}.cpp": "#include <lib/box.hpp>\nusing box = lib::box;\n" for i in range(50)},
}


@pytest.mark.parametrize(
    ("header", "using", "target"),
    [
        ("<lib/box.hpp>", "using lib::box;", "include/lib/box.hpp:basic_box"),
        ("<lib/box.hpp>", "using box = lib::box;", "include/lib/box.hpp:basic_box"),
        ("<lib/box.hpp>", "using namespace lib;", "include/lib/box.hpp:basic_box"),
        ('"old_box.hpp"', "using lib::box;", "tests/old_box.hpp:lib.basic_box"),
    ],
)
def test_of_two_headers_the_included_one_is_meant(tmp_path, header, using, target):
    source = f"#include {header}\n{using}\nvoid run() {{\n  box b = box::parse(1);\n  b.get();\n}}\n"
    with world(tmp_path, {**BOXES, "tests/a.cpp": source}) as graph:
        assert {call for call in graph.calls() if ":run" in call} == {
            f"tests/a.cpp:run -> {target}.{name}" for name in ("parse", "get")
        }


def test_elements_of_an_unknown_type_may_be_of_any_class(tmp_path):
    source = (
        "class Leaf {\n public:\n  void unfold() {}\n};\n"
        "template <typename Node>\nvoid run(std::vector<Node*> nodes, std::vector<int> numbers) {\n"
        "  nodes.back()->unfold();\n  numbers.back().unfold();\n}\n"
    )
    with world(tmp_path, {"a.cpp": source}) as graph:
        assert [line for _, _, _, line, *_ in graph.named_edges("calls")] == [7]


@pytest.mark.parametrize(
    "expression",
    ['b["x"].get<int>()', "b.at(1).get<ns::x>()", 'b["x"]["y"].at(0).get<int>()', "v[1][0].get<int>()"],
)
def test_elements_by_operators_and_overloads_for_constants(tmp_path, expression):
    header = (
        "class box {\n public:\n  using value_type = box;\n  using reference = value_type&;\n"
        "  using const_reference = const value_type&;\n  reference operator[](int i) { return *this; }\n"
        "  const_reference operator[](int i) const { return *this; }\n"
        "  reference at(int i) { return *this; }\n  const_reference at(int i) const { return *this; }\n"
        "  template <typename T>\n  int get() const { return 1; }\n};\n"
        "class crate {\n public:\n  int get() { return 1; }\n};\n"
    )
    source = f'#include "a.hpp"\nvoid run(box b, std::vector<box> v) {{ {expression}; }}\n'
    with world(tmp_path, {"a.hpp": header, "a.cpp": source}) as graph:
        assert {call for call in graph.calls() if call.endswith("get")} == {"a.cpp:run -> a.hpp:box.get"}
