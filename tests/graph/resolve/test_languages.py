"""What each language's rules make of imports, classes, receivers and names that nobody defines."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

CASES = {
    "python: imports, aliases and re-exports": (
        {
            "shop/__init__.py": "from .cart import Cart as Basket\nfrom .tools import *\n",
            "shop/cart.py": "class Cart:\n    def __init__(self):\n        self.add(1)\n\n"
            "    def add(self, n):\n"
            "        return n\n",
            "shop/tools.py": "def tidy():\n    pass\n",
            "main.py": "import shop.tools as t\nfrom shop import Basket, tidy\nimport json\n\n\n"
            "def run():\n"
            "    b = Basket()\n    b.add(2)\n    t.tidy()\n    tidy()\n    json.dumps(b)\n    print(b)\n",
        },
        {
            "shop/cart.py:Cart.__init__ -> shop/cart.py:Cart.add",
            "main.py:run -> shop/cart.py:Cart",
            "main.py:run -> shop/cart.py:Cart.__init__",
            "main.py:run -> shop/cart.py:Cart.add",
            "main.py:run -> shop/tools.py:tidy",
        },
    ),
    "python: a parameter hides a function, a local function too": (
        {
            "a.py": "def work(): ...\n\n\ndef one(work):\n    work()\n\n\ndef two():\n"
            "    def work(): ...\n    work()\n\n\n"
            "def three():\n    work()\n",
        },
        {
            "a.py:two -> a.py:two.work",
            "a.py:three -> a.py:work",
            "a.py:one -> a.py:work (ambiguous)",  # it may be passed
            "a.py:one -> a.py:two.work (ambiguous)",
        },
    ),
    "python: a common name on an unknown receiver is never a fact": (
        {
            "a.py": "class Store:\n    def get(self): ...\n    def get_by_slug(self): ...\n\n\n"
            "def use(x):\n    x.get()\n"
            "    x.get_by_slug()\n",
        },
        {"a.py:use -> a.py:Store.get (ambiguous)", "a.py:use -> a.py:Store.get_by_slug (unique)"},
    ),
    "python: overloads mean what is defined last": (
        {
            "a.py": "from typing import overload\n\n\n@overload\ndef f(x: int): ...\n@overload\n"
            "def f(x: str): ...\n"
            "def f(x):\n    return x\n\n\ndef g():\n    f(1)\n",
        },
        {"a.py:g -> a.py:f"},
    ),
    "javascript: require, exports and prototypes": (
        {
            "lib/view.js": "module.exports = View;\nfunction View() { this.find(); }\n"
            "View.prototype.find = function find() {};\n",
            "lib/tools.js": "exports.tidy = function tidy() {};\n",
            "lib/app.js": "var View = require('./view');\nvar tools = require('./tools');\n"
            "const { tidy } = require('./tools');\nvar fs = require('fs');\n"
            "function run(next) { var v = new View(); tools.tidy(); tidy(); fs.readFile(); next(); }\n",
        },
        {
            "lib/view.js:View -> lib/view.js:View.find",
            "lib/app.js:run -> lib/view.js:View",
            "lib/app.js:run -> lib/tools.js:tidy",
        },
    ),
    "java: packages, static imports, fields, overloads": (
        {
            "a/Cart.java": "package a;\n\npublic class Cart extends Base {\n  public Cart() {}\n"
            "  public void add(int n) {\n"
            "    check(); save();\n  }\n  public void add(int n, int m) {}\n  private void check() {}\n"
            "  public static Cart of() { return new Cart(); }\n}\n",
            "a/Base.java": "package a;\n\nclass Base {\n  void save() {}\n}\n",
            "b/Main.java": "package b;\n\nimport a.Cart;\nimport static a.Cart.of;\n"
            "import java.util.List;\n\nclass Main {\n"
            "  private Cart cart;\n  void run(List<String> l) {\n    cart.add(1);\n    of().add(1, 2);\n"
            "    l.add(null);\n"
            "    var c = new Cart();\n    c.add(3);\n  }\n}\n",
        },
        {
            "a/Cart.java:Cart.add -> a/Cart.java:Cart.check",
            "a/Cart.java:Cart.add -> a/Base.java:Base.save",
            "a/Cart.java:Cart.of -> a/Cart.java:Cart",
            "a/Cart.java:Cart.of -> a/Cart.java:Cart.Cart",
            "b/Main.java:Main.run -> a/Cart.java:Cart.add",
            "b/Main.java:Main.run -> a/Cart.java:Cart.of",
            "b/Main.java:Main.run -> a/Cart.java:Cart",
            "b/Main.java:Main.run -> a/Cart.java:Cart.Cart",
        },
    ),
    "php: namespaces, parent, fields": (
        {
            "Cart.php": "<?php\nnamespace Shop;\nclass Cart extends Base {\n  private Tax $tax;\n"
            "  function add() { parent::add(); $this->tax->of(); self::make(); strlen('x'); }\n"
            "  static function make() { return new Cart(); }\n}\n",
            "Base.php": "<?php\nnamespace Shop;\nclass Base { function add() {} }\n",
            "Tax.php": "<?php\nnamespace Shop;\nclass Tax { function of() {} }\n",
            "main.php": "<?php\nnamespace App;\nuse Shop\\Cart as C;\n"
            "function run() { $c = new C(); $c->add(); }\n",
        },
        {
            "Cart.php:Cart.add -> Base.php:Base.add",
            "Cart.php:Cart.add -> Tax.php:Tax.of",
            "Cart.php:Cart.add -> Cart.php:Cart.make",
            "Cart.php:Cart.make -> Cart.php:Cart",
            "main.php:run -> Cart.php:Cart",
            "main.php:run -> Cart.php:Cart.add",
        },
    ),
    "ruby: constants, mixins, new": (
        {
            "cart.rb": "module Shop\n  module Tidy\n    def tidy_up\n    end\n  end\n\n  class Cart\n"
            "    include Tidy\n"
            "    def add\n      tidy_up()\n    end\n    def self.make\n      new\n    end\n  end\nend\n",
            "main.rb": "require_relative 'cart'\n\ndef run\n  c = Shop::Cart.new\n  c.add\n"
            "  Shop::Cart.make\n  puts c\nend\n",
        },
        {
            "cart.rb:Shop.Cart.add -> cart.rb:Shop.Tidy.tidy_up",
            "cart.rb:Shop.Cart.make -> cart.rb:Shop.Cart",
            "main.rb:run -> cart.rb:Shop.Cart",
            "main.rb:run -> cart.rb:Shop.Cart.add",
            "main.rb:run -> cart.rb:Shop.Cart.make",
        },
    ),
    "c: static functions stay at home, variants go by folder": (
        {
            "unix/a.c": "static int helper(void) { return 1; }\nint open_it(void) { return helper(); }\n",
            "unix/b.c": "int close_it(void) { open_it(); helper(); return printf(1); }\n",
            "win/a.c": "int open_it(void) { return 2; }\n",
        },
        {
            "unix/a.c:open_it -> unix/a.c:helper",
            "unix/b.c:close_it -> unix/a.c:open_it",
            "unix/b.c:close_it -> unix/a.c:helper (ambiguous)",  # one file may include the other
        },
    ),
    "csharp: namespaces, base, fields": (
        {
            "Cart.cs": "namespace Shop.Core {\n  public class Cart : Base {\n    private Tax tax;\n"
            "    public void Put() { base.Save(); tax.Of(); Helper(); }\n    void Helper() {}\n  }\n"
            "  public class Base { public void Save() {} }\n}\n",
            "Tax.cs": "namespace Shop;\npublic class Tax { public void Of() {} }\n",
            "Main.cs": "using Shop.Core;\n"
            "class Main { void Run() { var c = new Cart(); c.Put(); Console.WriteLine(c); } }\n",
        },
        {
            "Cart.cs:Cart.Put -> Cart.cs:Base.Save",
            "Cart.cs:Cart.Put -> Tax.cs:Tax.Of",
            "Cart.cs:Cart.Put -> Cart.cs:Cart.Helper",
            "Main.cs:Main.Run -> Cart.cs:Cart",
            "Main.cs:Main.Run -> Cart.cs:Cart.Put",
        },
    ),
    "elixir: aliases, imports, modules": (
        {
            "cart.ex": "defmodule Shop.Cart do\n  def add(n) do\n    tidy(n)\n  end\n\n"
            "  defp tidy(n), do: n\nend\n",
            "main.ex": "defmodule Main do\n  alias Shop.Cart\n  import Shop.Cart\n\n  def run do\n"
            "    Cart.add(1)\n"
            "    Shop.Cart.add(2)\n    Enum.map([], 1)\n  end\nend\n",
        },
        {"cart.ex:Shop.Cart.add -> cart.ex:Shop.Cart.tidy", "main.ex:Main.run -> cart.ex:Shop.Cart.add"},
    ),
    "bash: functions of the same file, and of any": (
        {"a.sh": "tidy_up() {\n  ls\n}\nrun() {\n  tidy_up\n}\n", "b.sh": "other() {\n  tidy_up\n}\n"},
        {"a.sh:run -> a.sh:tidy_up", "b.sh:other -> a.sh:tidy_up (unique)"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_calls(tmp_path, name):
    files, expected = CASES[name]
    with world(tmp_path, files) as graph:
        assert graph.calls() == expected


def test_a_class_is_extended_and_not_its_constructor(tmp_path):
    files = {
        "a/Base.java": "package a;\n\npublic abstract class Base<T> {\n  public Base() {}\n}\n",
        "b/Mine.java": "package b;\n\nimport a.Base;\n\nclass Mine extends Base<String> {}\n",
    }
    with world(tmp_path, files) as graph:
        edges = [(source, target) for _, source, target, *_ in graph.named_edges("extends")]
        assert edges == [("b/Mine.java:Mine", "a/Base.java:Base")]


def test_fields_that_say_of_each_other_what_they_are_end(tmp_path):
    """Each field is given two others, twice: without memory there are as many ways as leaves on a tree."""
    fields = range(30)
    given = [f"        self.f{n} = self.f{(n + step) % 30}.g\n" for n in fields for step in (1, 7, 11)]
    text = (
        f"class C:\n    def __init__(self):\n{''.join(given)}        self.f0.go()\n\n    def go(self): ...\n"
    )
    with world(tmp_path, {"a.py": text}) as graph:
        assert graph.named_edges("extends") == []
