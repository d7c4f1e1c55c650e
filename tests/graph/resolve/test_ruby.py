"""Receivers and names of Ruby: what a call links to."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

LAMP = "class Lamp\n  def light\n  end\n  def self.spare\n    new\n  end\nend\n"

# A file beside Lamp, and the calls from it.
CASES: dict[str, tuple[str, set[str]]] = {
    "a bare name is a call unless it is a local variable": (
        "class A\n  def go\n  end\n  def size\n  end\n  def run(size)\n    go\n    size\n"
        "    [1].each { |go| go }\n  end\nend\n",
        {"A.run -> A.go"},
    ),
    "a variable of one block is a call in another": (
        "def lamp\nend\nfirst do\n  lamp = 1\n  lamp\nend\nsecond do\n  lamp\nend\n",
        {"a -> lamp"},
    ),
    "values: locals, memoised fields, results, attributes, chains": (
        "class A\n  attr_reader :lamp\n  def initialize\n    @lamp = Lamp.new\n  end\n"
        "  def cached\n    @cached ||= Lamp.new 1, 2\n  end\n  def one\n    l = cached\n    l.light\n  end\n"
        "  def two\n    lamp.light\n  end\n  def three\n    A.new.lamp.light\n  end\n"
        "  def four\n    Lamp.spare.light\n  end\n  def five\n    @lamp.light\n  end\nend\n",
        {
            *(f"A.{name} -> Lamp.light" for name in ("one", "two", "three", "four", "five")),
            *("A.initialize -> Lamp", "A.cached -> Lamp", "A.one -> A.cached", "A.four -> Lamp.spare"),
            *("A.three -> A", "A.three -> A.initialize"),
        },
    ),
    "mixins before base classes, the last one first": (
        "module M\n  def tidy\n  end\nend\nmodule N\n  def tidy\n  end\nend\nclass Base\n  def tidy\n  end\n"
        "  def rest\n  end\nend\nclass A < Base\n  include M\n  include N\n"
        "  def run\n    tidy\n    rest\n  end\nend\n",
        {"A.run -> N.tidy", "A.run -> Base.rest"},
    ),
    "super is the method of a mixin or a base class": (
        "class Base\n  def initialize(n)\n  end\n  def run\n  end\nend\nclass A < Base\n"
        "  def initialize\n    super(1)\n  end\n  def run\n    super\n  end\nend\n",
        {"A.initialize -> Base.initialize", "A.run -> Base.run"},
    ),
    "methods of a class and of its instances are different": (
        "class A\n  def self.run\n    go\n  end\n  def self.go\n  end\n  def go\n  end\n  def step\n    go\n"
        "    self.class.go\n  end\nend\n",
        {"A.run -> A.go", "A.step -> A.go"},
    ),
    "methods that a mixin adds to the class": (
        "module Findable\n  def self.included(base)\n    base.extend(ClassMethods)\n  end\n"
        "  module ClassMethods\n    def find_all_of\n    end\n  end\nend\n"
        "class A\n  include Findable\nend\ndef run\n  A.find_all_of\nend\n",
        {"run -> Findable.ClassMethods.find_all_of"},
    ),
    "aliases": (
        "class A\n  def go\n  end\n  alias start go\n  alias_method :begin_now, :go\n"
        "  def run\n    start\n    begin_now\n  end\nend\n",
        {"A.run -> A.go"},
    ),
    "an assignment to a member calls its setter": (
        "class A\n  def level\n  end\n  def level=(n)\n  end\n  def run\n    self.level = 1\n  end\nend\n",
        {"A.run -> A.level="},
    ),
    "symbols that name methods are possible calls": (
        "class A\n  before_action :login\n  private :login\n  def login\n  end\n  def run(all)\n"
        "    send(:login)\n    all.map(&:login)\n  end\nend\n",
        {"A -> A.login (possible)", "A.run -> A.login (possible)", "A.run -> A.login (ambiguous)"},
    ),
    "constants of the class around and of its base classes, and absolute ones": (
        "class Base\n  class Lamp\n    def dim\n    end\n  end\nend\n"
        "class A < Base\n  def run\n    Lamp.new.dim\n    ::Lamp.new.light\n  end\nend\n",
        {"A.run -> Base.Lamp", "A.run -> Base.Lamp.dim", "A.run -> Lamp", "A.run -> Lamp.light"},
    ),
    "a field that is a literal in one place can be anything in another": (
        "class A\n  def initialize(lamp)\n    @lamp = lamp\n  end\n  def clear\n    @lamp = []\n  end\n"
        "  def run\n    @lamp.light\n  end\nend\n",
        {"A.run -> Lamp.light (ambiguous)"},
    ),
    "classes by Struct.new": (
        "Point = Struct.new(:x) do\n  def norm\n  end\nend\ndef run\n  Point.new(1).norm\nend\n",
        {"run -> Point", "run -> Point.norm"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_calls(tmp_path, name):
    text, expected = CASES[name]
    with world(tmp_path, {"lamp.rb": LAMP, "a.rb": text}) as graph:
        calls = {call.replace("a.rb:", "").replace("lamp.rb:", "") for call in graph.calls()}
        assert {call for call in calls if not call.startswith("Lamp.spare ")} == expected
