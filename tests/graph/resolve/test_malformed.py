"""Code that is being typed, or was never meant to compile: names are missing anywhere, and nothing fails."""

from __future__ import annotations

import logging
import re

import pytest

from dowse.graph import link
from graph.resolve.world import world

CODE = {
    "rs": "mod a { pub mod b { pub struct S { n: u32 } impl S { pub fn f(&self) {} } pub fn g() -> S {} } }\n"
    "use crate::a::b::g as h;\nuse a::{self, b::S};\npub use self::a::b;\n"
    "pub fn run(s: &a::b::S) { a::b::g().f(); crate::a::b::g(); s.f(); let t: S = h(); t.f(); }\n",
    "cpp": "namespace a::b { struct S { int n; void f(); static S g(); }; void S::f() {} }\n"
    "using namespace a::b;\nusing T = a::b::S;\n"
    "void run(T *s) { a::b::S::g().f(); s->f(); auto t = T::g(); t.f(); }\n",
    "py": "import os.path as p\nfrom a.b import c as d\nclass S(d.Base):\n    def f(self) -> 'S':\n"
    "        return self.g().h[0].f()\n    def g(self):\n        return super().f()\n"
    "def run(s: S):\n    s.f().g()\n    p.join(d.e.f())\n",
    "ts": "import {a as b, c} from './m';\nimport * as n from './n';\nexport class S extends n.T {\n"
    "  x: b.U;\n  f(): S { return this.x.y().z[0](); }\n}\n"
    "export function run(s: S) { s.f().f(); n.g.h(); c(); }\n",
    "java": "package a.b;\nimport a.b.C;\nimport static a.b.D.e;\n"
    "class S extends C { D x; S f() { return this.x.y().z(); } static S g() { e(); return new S(); } }\n"
    "class R { void run(S s) { s.f().f(); S.g().x.h(); a.b.S.g(); } }\n",
    "go": 'package a\nimport b "x/y"\ntype S struct { b.T; n int }\nfunc (s *S) F() *S { return s.T.G().H }\n'
    "func Run(s *S) { s.F().F(); b.G().H(); var t b.T; t.F() }\n",
    "kt": "package a.b\nimport a.b.C as D\nclass S(val x: D) : C() { fun f(): S = this.x.y().z }\n"
    "fun S.g() = f()\nfun run(s: S) { s.f().g(); a.b.S(D()).f(); with(s) { f() } }\n",
    "scala": "package a.b\nimport a.b.{C => D, E}\nclass S(x: D) extends C with E {\n"
    "  def f: S = this.x.y.z()\n}\n"
    "object S { def g(s: S) = s.f.f; def run() = a.b.S.g(new S(new D)) }\n",
    "php": "<?php\nnamespace A\\B;\nuse A\\B\\{C as D, E};\nclass S extends D { use E;\n"
    "  private D $x; function f(): S { return $this->x->y()->z; } static function g() { parent::f(); } }\n"
    "function run(S $s) { $s->f()->f(); S::g()->f(); \\A\\B\\S::g(); }\n",
    "rb": "module A\n  class S < B::C\n    include D::E\n    def f; self.x.y(1).z; super; end\n"
    "    def self.g = new.f\n  end\nend\ndef run(s) = A::S.g.f + s&.f\n",
    "cs": "using D = A.B.C;\nnamespace A.B {\n"
    "  class S : D { D x; S F() => this.x.Y().Z; static S G() => new S(); }\n"
    "  class R { void Run(S s) { s.F().F(); A.B.S.G().F(); s?.F(); } } }\n",
}


@pytest.mark.parametrize("ending", CODE)
def test_any_name_may_be_missing(tmp_path, ending, caplog):
    code = CODE[ending]
    mutants = [code[: name.start()] + code[name.end() :] for name in re.finditer(r"\w+|::|->|[.{};]", code)]
    tree = {f"m{number}.{ending}": text for number, text in enumerate([code, *mutants])}
    with caplog.at_level(logging.WARNING, "dowse.graph"), world(tmp_path, tree) as files:
        assert files.calls()
    assert [record.getMessage() for record in caplog.records] == []


def test_a_bug_of_the_rules_costs_the_calls_of_one_file(tmp_path, monkeypatch, caplog):
    from dowse.graph.resolve import resolver

    def resolve(file, *arguments):
        return [][0] if file.path == "b.py" else resolve_file(file, *arguments)

    resolve_file = resolver.resolve_file
    monkeypatch.setattr(resolver, "resolve_file", resolve)
    tree = {f"{name}.py": f"def {name}():\n    pass\ndef call():\n    {name}()\n" for name in "abc"}
    with world(tmp_path, tree) as files:
        assert files.calls() == {"a.py:call -> a.py:a", "c.py:call -> c.py:c"}
    assert link._log.name == "dowse.graph" and "the calls in b.py" in caplog.text
