"""Receivers and names of Kotlin: what a call links to."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

SHAPES = """package a
open class Shape(val name: String) {
  fun draw() { }
  fun copy(): Shape = Shape(name)
}
class Box(val held: Shape) {
  val all: List<Shape> = listOf()
  fun inside() = held
}
interface Sink {
  fun accept(shape: Shape, box: Box)
}
fun build(block: Box.() -> Unit) { }
fun each(block: (Shape) -> Unit) { }
fun give(name: String, sink: Sink) { }
fun Shape.polish() { draw() }
"""

# A file beside the shapes in one package, and the calls from it.
CASES: dict[str, tuple[str, set[str]]] = {
    "properties, results of expressions and elements of collections": (
        'class A(private val box: Box) {\n  val made = box.inside()\n  val late by lazy { Shape("x") }\n'
        "  fun one() { made.draw() }\n  fun two() { late.draw() }\n"
        "  fun three() {\n    for (s in box.all) s.draw()\n  }\n}\n",
        {
            *(f"A.{name} -> Shape.draw" for name in ("one", "two", "three")),
            *("A -> Box.inside", "A -> Shape"),
        },
    ),
    "a head of a class with line breaks, and strings with several dollars": (
        "class A<T : Any>\n@Inject\ninternal constructor(private val box: Box) :\n  Base<T>(), Sink {\n"
        '  val s = $$"{\\"$foo\\": 1}"\n  fun one() { box.inside().draw() }\n'
        "  class B\n  private constructor() {\n    fun two(s: Shape) { s.draw() }\n  }\n}\n",
        {"A.one -> Box.inside", "A.one -> Shape.draw", "A.B.two -> Shape.draw"},
    ),
    "scope functions: the receiver, or the parameter": (
        "fun one(b: Box) {\n  b.held.apply {\n    draw()\n  }.draw()\n}\nfun two(s: Shape?) {\n"
        "  s?.let { it.draw() }\n}\nfun three(b: Box) {\n  with(b.held) {\n    draw()\n  }\n}\n"
        "fun four(b: Box) {\n  b.all.forEach { x -> x.draw() }\n}\nfun five(s: Shape?) {\n  s!!.draw()\n}\n",
        {f"{name} -> Shape.draw" for name in ("one", "two", "three", "four", "five")},
    ),
    "lambdas by the declared types of parameters": (
        "fun one() {\n  build {\n    inside()\n  }\n}\nfun two() {\n  each { it.draw() }\n}\n"
        'fun three() {\n  give("x") { s, b ->\n    s.draw()\n    b.inside()\n  }\n}\n',
        {
            *("one -> build", "one -> Box.inside", "two -> each", "two -> Shape.draw"),
            *("three -> give", "three -> Shape.draw", "three -> Box.inside"),
        },
    ),
    "smart casts": (
        "fun one(x: Any) {\n  if (x is Shape) {\n    x.draw()\n  }\n}\n"
        "fun two(x: Any) {\n  when (x) {\n    is Shape -> x.draw()\n  }\n}\n"
        "fun three(x: Any) {\n  if (x !is Shape) return\n  x.draw()\n}\n",
        {f"{name} -> Shape.draw" for name in ("one", "two", "three")},
    ),
    "extension functions of what is around": (
        'class A : Shape("x") {\n  fun run() { polish() }\n}\nfun Box.tidy() { inside().polish() }\n',
        {"A.run -> polish", "tidy -> Box.inside", "tidy -> polish"},
    ),
    "type arguments, infix calls and overloads that return each other's results": (
        'fun <T> pick(x: Int, y: Int): Shape = Shape("x")\nfun <T> pick(x: Int) = pick<T>(x, 0)\n'
        "infix fun Shape.over(s: Shape) = s\nfun run(s: Shape) {\n  pick<Int>(3)\n  s over s\n}\n",
        {"pick -> Shape", "pick -> pick", "run -> pick", "run -> over"},
    ),
    "an extension function that takes as many arguments": (
        "fun Shape.draw(times: Int) { }\nfun run(s: Shape) {\n  s.draw(2)\n  s.draw()\n}\n",
        {"run -> draw", "run -> Shape.draw"},
    ),
    "extension functions of classes": (
        "fun KClass<*>.label() { }\nfun Class<*>.mark() { }\nfun run() {\n  Shape::class.label()\n"
        "  String::class.java.mark()\n}\n",
        {"run -> label", "run -> mark"},
    ),
    "delegation and objects without a name": (
        "class A(private val sink: Sink) : Sink by sink\nclass B(val a: A) {\n"
        "  fun run(s: Shape, b: Box) { a.accept(s, b) }\n  fun make() = object : Sink {\n"
        "    override fun accept(shape: Shape, box: Box) {\n      shape.draw()\n    }\n  }\n}\n",
        {"B.run -> Sink.accept", "B.make.$Sink.accept -> Shape.draw"},
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_calls(tmp_path, text, expected):
    files = {"a/Shapes.kt": SHAPES, "a/Use.kt": f"package a\n{text}"}
    with world(tmp_path, files) as made:
        calls = [call for call in made.calls() if call.startswith("a/Use.kt:")]
    assert {call.replace("a/Use.kt:", "").replace("a/Shapes.kt:", "") for call in calls} == expected


def test_an_import_hides_a_class_of_the_package(tmp_path):
    files = {
        "a/Tool.kt": "package a\nclass Tool {\n  fun other() { }\n}\n",
        "b/Tool.kt": "package b\nobject Tool {\n  fun go() { }\n}\n",
        "a/Use.kt": "package a\nimport b.Tool\nfun run() { Tool.go() }\n",
    }
    with world(tmp_path, files) as made:
        assert made.calls() == {"a/Use.kt:run -> b/Tool.kt:Tool.go"}


def test_a_private_function_is_one_of_its_file(tmp_path):
    files = {
        f"{name}.kt": f"package a\nprivate fun trim(s: String): String = s\nfun {name}() {{ trim(x) }}\n"
        for name in ("one", "two")
    }
    with world(tmp_path, files) as graph:
        assert graph.calls() == {"one.kt:one -> one.kt:trim", "two.kt:two -> two.kt:trim"}
