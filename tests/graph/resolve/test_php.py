"""Receivers and names of PHP: what a call links to."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

LAMP = """<?php
namespace House;
interface Light { function on(); }
trait Switchable { function on() {} function off() {} }
class Lamp implements Light { use Switchable; static function make(): static { return new static; } }
enum Level { case Low; function name() {} }
"""

# The body of a file that uses it, and the calls from it.
CASES: dict[str, tuple[str, set[str]]] = {
    "methods of traits come before those of interfaces": (
        "function run(Lamp $lamp) { $lamp->on(); $lamp->off(); }",
        {"run -> Switchable.on", "run -> Switchable.off"},
    ),
    "adapted methods of traits": (
        "trait T { function a() {} function b() {} }\ntrait U { function b() {} }\n"
        "class A { use T, U { T::b insteadof U; a as protected c; }\n"
        "  function run() { $this->c(); $this->b(); } }",
        {"A.run -> T.a", "A.run -> T.b"},
    ),
    "types in doc comments: properties, parameters, results, variables": (
        "class A {\n  /** @var Lamp[] */\n  private array $lamps = [];\n  private $one;\n"
        "  /** @param array<string, Lamp> $all */\n"
        "  function two(array $all) { foreach ($all as $l) { $l->off(); } }\n"
        "  function three() { foreach ($this->lamps as $k => $l) { $l->off(); } }\n"
        "  /** @return Lamp|null */\n  function find() { return lookup(); }\n"
        "  function four() { $this->find()->off(); }\n"
        "  function five() {\n    /** @var Lamp $x */\n    $x = lookup();\n    $x->off();\n  }\n}",
        {
            *(f"A.{name} -> Switchable.off" for name in ("two", "three", "four", "five")),
            "A.four -> A.find",
        },
    ),
    "instanceof narrows, in the branch and after it": (
        "function one($x) { if ($x instanceof Lamp) { $x->off(); } }\n"
        "function two($x) {\n  if (!$x instanceof Lamp) { throw new \\Error(); }\n  $x->off();\n}",
        {"one -> Switchable.off", "two -> Switchable.off"},
    ),
    "values: conditions, clones, results, promoted and static properties": (
        "class A {\n  private static ?A $it = null;\n  function __construct(private Lamp $lamp) {}\n"
        "  function one() { $l = clone $this->lamp; $l->off(); }\n"
        "  function two($x) { $l = $x ?? new Lamp(); $l->off(); }\n"
        "  function three() { Lamp::make()->off(); }\n"
        "  function four() { self::$it->one(); }\n}",
        {
            *(f"A.{name} -> Switchable.off" for name in ("one", "two", "three")),
            *("A.two -> Lamp", "A.three -> Lamp.make", "A.four -> A.one"),
        },
    ),
    "an object that is asked for by its class": (
        "function run($container) { $lamp = $container->get(Lamp::class); $lamp->off(); }",
        {"run -> Switchable.off"},
    ),
    "callables are possible calls": (
        "class A {\n  function go() {}\n  static function cmp() {}\n  function run($all) {\n"
        "    array_map([$this, 'go'], $all); usort($all, 'A::cmp'); usort($all, [A::class, 'cmp']);\n  }\n}",
        {"A.run -> A.go (possible)", "A.run -> A.cmp (possible)"},
    ),
    "cases of enums are instances": ("function run() { Level::Low->name(); }", {"run -> Level.name"}),
}


@pytest.mark.parametrize("name", CASES)
def test_calls(tmp_path, name):
    body, expected = CASES[name]
    text = f"<?php\nnamespace App;\nuse House\\{{Lamp, Level}};\n{body}\n"
    with world(tmp_path, {"lamp.php": LAMP, "a.php": text}) as graph:
        calls = {call.replace("a.php:", "").replace("lamp.php:", "") for call in graph.calls()}
        assert {call for call in calls if not call.startswith("Lamp.make ")} == expected
