"""Receivers and names of Scala: what a call links to."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

LAMP = """package house
package light
class Lamp(val level: Int) {
  def on(): Unit = ()
  def other: Lamp = this
}
object Lamps { def all: List[Lamp] = Nil }
"""

# A file in a package beside it, and the calls from it.
CASES: dict[str, tuple[str, set[str]]] = {
    "calls without brackets, of members and of results; fields are not called": (
        "class A {\n  def lamp: Lamp = null\n  def run(l: Lamp) = {\n    lamp.on()\n    l.other.on()\n"
        "    l.level\n  }\n}\n",
        {"A.run -> A.lamp", "A.run -> Lamp.on", "A.run -> Lamp.other"},
    ),
    "a variable is no call": (
        "class A {\n  def go = 1\n  def run(size: Int) = { val n = size; n }\n  def size = 2\n}\n",
        set(),
    ),
    "infix calls, patterns and loops": (
        "class A {\n  def run(l: Lamp) = l on ()\n"
        "  def two(x: Any) = x match { case l: Lamp => l.on() }\n"
        "  def three(all: List[Lamp]) = for (l <- all) l.on()\n}\n",
        {"A.run -> Lamp.on", "A.two -> Lamp.on", "A.three -> Lamp.on"},
    ),
    "results that are not declared": (
        "class A {\n  def make = new Lamp(1)\n  def run() = make.on()\n}\n",
        {"A.make -> Lamp", "A.run -> A.make", "A.run -> Lamp.on"},
    ),
    "names of packages around": (
        "class A extends light.Lamp(1) {\n  def run() = on()\n}\n",
        {"A.run -> Lamp.on"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_calls(tmp_path, name):
    text, expected = CASES[name]
    files = {"lamp.scala": LAMP, "a.scala": f"package house\nimport light.Lamp\n{text}"}
    with world(tmp_path, files) as graph:
        calls = {call.replace("a.scala:", "").replace("lamp.scala:", "") for call in graph.calls()}
        assert calls == expected
