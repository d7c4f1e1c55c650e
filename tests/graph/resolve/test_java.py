"""Receivers and names of Java: what a call links to."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

SHAPE = "package a;\npublic class Shape {\n  public Shape(int n) {}\n  public void draw() {}\n}\n"

# A file beside Shape in one package, and the calls from it.
CASES: dict[str, tuple[str, set[str]]] = {
    "type parameters with bounds, of methods and classes": (
        "class A<S extends Shape> {\n  S held;\n  <T extends Shape> void run(T t) { t.draw(); }\n"
        "  void go() { held.draw(); }\n}\n",
        {"A.run -> Shape.draw", "A.go -> Shape.draw"},
    ),
    "a type parameter whose bound names it": (
        "class A<S extends A<S>> {\n  S self;\n  void run() { self.stop(); }\n  void stop() {}\n}\n",
        {"A.run -> A.stop"},
    ),
    "elements of collections, by index, loop, iterator and lambda": (
        "import java.util.*;\nclass A {\n  List<Shape> all;\n  Map<String, Shape> byName;\n"
        "  void one() { all.get(0).draw(); }\n  void two() { for (var s : all) { s.draw(); } }\n"
        '  void three() { byName.get("x").draw(); }\n  void four() { all.forEach(s -> s.draw()); }\n'
        "  void five(Shape[] list) { list[0].draw(); }\n"
        "  void six(List<? extends Shape> l) { l.get(1).draw(); }\n"
        "}\n",
        {f"A.{name} -> Shape.draw" for name in ("one", "two", "three", "four", "five", "six")},
    ),
    "casts, conditional values and chains of results": (
        "class A {\n  Shape make() { return null; }\n  A self() { return this; }\n"
        "  void one(Object o) { ((Shape) o).draw(); }\n  void two() { self().self().make().draw(); }\n"
        "  void three(boolean b) { var s = b ? make() : make(); s.draw(); }\n"
        "  void four(Object o) { var s = (Shape) o; s.draw(); }\n}\n",
        {
            *(f"A.{name} -> Shape.draw" for name in ("one", "two", "three", "four")),
            *("A.two -> A.self", "A.two -> A.make", "A.three -> A.make"),
        },
    ),
    "constructors call each other and those of the base class": (
        "class A extends Shape {\n  A() { this(1); }\n  A(int n) { super(n); }\n}\n",
        {"A.A -> A", "A.A -> A.A", "A.A -> Shape", "A.A -> Shape.Shape"},
    ),
    "a method is called even where a variable has its name": (
        "class A {\n  int size() { return 1; }\n  void run() { int size = size(); }\n}\n",
        {"A.run -> A.size"},
    ),
    "method references are possible calls": (
        "class A {\n  void go() {}\n  static void tidy() {}\n  void run(Shape s) {\n"
        "    use(this::go, A::tidy, s::draw, Shape::new);\n  }\n}\n",
        {f"A.run -> {name} (possible)" for name in ("A.go", "A.tidy", "Shape.draw", "Shape")},
    ),
    "inner classes see the members of outer ones": (
        "class A extends Shape {\n  class In {\n    void run() { tidy(); draw(); A.this.tidy(); }\n  }\n"
        "  void tidy() {}\n}\n",
        {"A.In.run -> A.tidy", "A.In.run -> Shape.draw"},
    ),
    "constants of an enum are instances of it": (
        "enum E {\n  ONE, TWO;\n  void run() {}\n}\nclass A {\n  void go() { E.ONE.run(); }\n}\n",
        {"A.go -> E.run"},
    ),
    "members of a class with a base outside the index": (
        "class A extends org.x.Far {\n  Shape s;\n  void run() { s.draw(); tidy(); }\n  void tidy() {}\n}\n",
        {"A.run -> Shape.draw", "A.run -> A.tidy"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_calls(tmp_path, name):
    text, expected = CASES[name]
    with world(tmp_path, {"a/Shape.java": SHAPE, "a/A.java": "package a;\n" + text}) as graph:
        calls = {call.replace("a/A.java:", "").replace("a/Shape.java:", "") for call in graph.calls()}
        assert calls == expected


def test_anonymous_classes_implement_what_they_are_made_of(tmp_path):
    text = (
        "class A {\n  Shape make() {\n    return new Shape(1) {\n"
        "      public void draw() { tidy(); }\n    };\n  }\n"
        "  void tidy() {}\n}\n"
    )
    with world(tmp_path, {"a/Shape.java": SHAPE, "a/A.java": "package a;\n" + text}) as graph:
        extends = {(source, target) for _, source, target, *_ in graph.named_edges("extends")}
        assert extends == {("a/A.java:A.make.$Shape", "a/Shape.java:Shape")}
        assert graph.calls() == {
            "a/A.java:A.make -> a/Shape.java:Shape",
            "a/A.java:A.make -> a/Shape.java:Shape.Shape",
            "a/A.java:A.make.$Shape.draw -> a/A.java:A.tidy",
        }
