"""Receivers and names of C#: what a call links to."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

SHAPE = (
    "namespace A;\npublic class Shape {\n  public Shape(int n) {}\n  public void Draw() {}\n"
    "  public virtual void Save(int a, int b) {}\n}\n"
    "public static class Tools {\n  public static Shape Tidy(this Shape s) => s;\n"
    "  public static int Ask(this IStore store) => 1;\n}\n"
)

# A file beside Shape, and the calls from it.
CASES: dict[str, tuple[str, set[str]]] = {
    "type parameters with constraints": (
        "class C {\n  void Run<T>(T t) where T : Shape { t.Draw(); }\n}\n",
        {"C.Run -> Shape.Draw"},
    ),
    "elements of collections": (
        "class C {\n  List<Shape> all;\n  void One() { foreach (var s in all) s.Draw(); }\n"
        "  void Two() { all[0].Draw(); }\n  void Three() { all.ForEach(s => s.Draw()); }\n"
        "  void Four() { all.First().Draw(); }\n}\n",
        {f"C.{name} -> Shape.Draw" for name in ("One", "Two", "Three", "Four")},
    ),
    "properties with bodies, casts and awaited results": (
        "class C {\n  Shape Held => null;\n  async Task<Shape> Load() => null;\n"
        "  void One() { Held.Draw(); }\n"
        "  async void Two() { var s = await Load(); s.Draw(); }\n"
        "  void Three(object o) { ((Shape)o).Draw(); }\n"
        "  void Four(object o) { (o as Shape).Draw(); }\n}\n",
        {
            *(f"C.{name} -> Shape.Draw" for name in ("One", "Two", "Three", "Four")),
            "C.Two -> C.Load",
        },
    ),
    "extension methods of a class and of an interface from outside": (
        "class C {\n  void Run(Shape s, IStore i, DbThing d) { s.Tidy().Draw(); i.Ask(); d.Ask(); }\n}\n",
        {
            "C.Run -> Tools.Tidy",
            "C.Run -> Shape.Draw",
            "C.Run -> Tools.Ask",
            "C.Run -> Tools.Ask (ambiguous)",
        },
    ),
    "constructors call each other and those of the base class": (
        "class C : Shape {\n  C() : this(1) {}\n  C(int n) : base(n) {}\n}\n",
        {"C.C -> C", "C.C -> C.C", "C.C -> Shape", "C.C -> Shape.Shape"},
    ),
    "a method with other parameters is inherited": (
        "class C : Shape {\n  void Save() { Save(1, 2); }\n}\n",
        {"C.Save -> Shape.Save"},
    ),
    "handlers are possible calls and nameof is none": (
        "class C {\n  void Go(object s) {}\n"
        "  void Run(Button b) { b.Click += Go; Use(Go); var n = nameof(Go); }\n}\n",
        {"C.Run -> C.Go (possible)"},
    ),
    "partial classes": (
        "partial class C {\n  void One() { Two(); }\n}\npartial class C {\n  void Two() { One(); }\n}\n",
        {"C.One -> C.Two", "C.Two -> C.One"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_calls(tmp_path, name):
    text, expected = CASES[name]
    with world(tmp_path, {"Shape.cs": SHAPE, "C.cs": "namespace A;\n" + text}) as graph:
        calls = {call.replace("Shape.cs:", "").replace("C.cs:", "") for call in graph.calls()}
        assert {call for call in calls if call.startswith("C.")} == expected
