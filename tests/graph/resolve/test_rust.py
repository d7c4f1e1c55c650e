"""Rust: crates, modules, types of values, macros."""

from __future__ import annotations

import pytest

from graph.resolve.world import world


def test_crates_start_where_the_manifest_says(tmp_path):
    tree = {
        "Cargo.toml": '[package]\nname = "tool"\n[[bin]]\nname = "tl"\npath = "crates/core/main.rs"\n'
        '[dependencies]\nfind = { package = "tool-finder", path = "crates/finder" }\n',
        "crates/core/main.rs": "mod flags;\nmod util;\nfn main() { flags::parse(); }\nfn shared() {}\n",
        "crates/core/flags/mod.rs": "mod hi;\nuse crate::util::tidy;\n"
        "pub fn parse() { tidy(); hi::high(); super::shared(); find::seek(); }\n",
        "crates/core/flags/hi.rs": "pub fn high() { crate::shared(); crate::util::tidy(); super::parse() }\n",
        "crates/core/util.rs": "pub fn tidy() {}\n",
        "crates/finder/Cargo.toml": '[package]\nname = "tool-finder"\n[lib]\npath = "code/finder.rs"\n',
        "crates/finder/code/finder.rs": "mod glob;\npub use glob::seek;\n",
        "crates/finder/code/glob.rs": "pub fn seek() {}\n",
    }
    with world(tmp_path, tree) as files:
        assert files.calls() == {
            "crates/core/main.rs:main -> crates/core/flags/mod.rs:parse",
            "crates/core/flags/mod.rs:parse -> crates/core/util.rs:tidy",
            "crates/core/flags/mod.rs:parse -> crates/core/flags/hi.rs:high",
            "crates/core/flags/mod.rs:parse -> crates/core/main.rs:shared",
            "crates/core/flags/mod.rs:parse -> crates/finder/code/glob.rs:seek",
            "crates/core/flags/hi.rs:high -> crates/core/main.rs:shared",
            "crates/core/flags/hi.rs:high -> crates/core/util.rs:tidy",
            "crates/core/flags/hi.rs:high -> crates/core/flags/mod.rs:parse",
        }
        files.put("Cargo.toml", '[package]\nname = "tool"\n')
        files.link()
        assert "crates/core/flags/mod.rs:parse -> crates/core/main.rs:shared" not in files.calls()


def test_calls_in_the_arguments_of_macros(tmp_path):
    code = """struct Shop { open: bool }
impl Shop {
    fn new() -> Self { Shop { open: true } }
    fn name(&self) -> String { String::new() }
    fn total<T>(&self) -> u32 { 1 }
}
macro_rules! check { ($e:expr) => { $e } }
fn price(n: u32) -> u32 { n }
fn tidy() {}
fn run(shop: Shop) {
    println!("{} at {}", shop.name(), price(1));
    assert_eq!(check!(shop.total::<Vec<u8>>()), vec![price(2)][0], "fn tidy() {}");
    select! { _ = Shop::new().name() => {} }
}
"""
    with world(tmp_path, {"src/lib.rs": code}) as files:
        calls = {
            (t.partition(":")[2], line)
            for _, s, t, line, *_ in files.named_edges("calls")
            if s.endswith(":run")
        }
        assert calls == {
            ("Shop.name", 11),
            ("price", 11),
            ("check", 12),
            ("Shop.total", 12),
            ("price", 12),
            ("Shop.new", 13),
            ("Shop.name", 13),
        }


def test_type_arguments_of_any_depth_belong_to_a_call(tmp_path):
    code = "fn check<T>() {}\nfn run() { check::<Vec<Box<dyn Fn() -> ()>>>(); check::<(u8, ())>(); }\n"
    with world(tmp_path, {"src/lib.rs": code}) as files:
        assert [edge[4] for edge in files.named_edges("calls")] == [11, 48]


TYPES = """use std::collections::HashMap;
use std::sync::{Arc, Mutex};
pub struct Bar;
impl Bar { pub fn a(&self) {} pub fn new() -> Self { Bar } pub fn same(&self) -> &Self { self } }
pub trait Shape { fn a(&self); fn make() -> Self; }
#[derive(Clone)]
pub struct Foo<S: Shape> {
    pub bar: Option<Bar>,
    pub all: Vec<Arc<Bar>>,
    pub by: HashMap<String, Vec<Bar>>,
    pub shared: Arc<Mutex<Bar>>,
    pub shape: S,
    pub pair: (u8, Bar),
}
impl<S: Shape> Foo<S> {
    pub fn find(&self) -> Result<Option<Bar>, Error> { todo() }
    pub async fn later(&self) -> Result<Bar> { todo() }
    pub fn items(&self) -> impl Iterator<Item = &Bar> { todo() }
    pub fn both(&self) -> (Bar, u8) { todo() }
}
"""


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("foo.bar.unwrap().a()", "Bar"),
        ("foo.bar.as_ref().unwrap().same().a()", "Bar"),
        ("foo.all[0].a()", "Bar"),
        ("foo.all.iter().next().unwrap().a()", "Bar"),
        ("foo.by.get(k)?.first()?.a()", "Bar"),
        ("foo.shared.lock().unwrap().a()", "Bar"),
        ("foo.shared.clone().lock().await.a()", "Bar"),
        ("foo.shape.a()", "Shape"),
        ("foo.pair.1.a()", "Bar"),
        ("foo.find()?.unwrap().a()", "Bar"),
        ("foo.later().await?.a()", "Bar"),
        ("let (x, _) = foo.both();\n    x.a()", "Bar"),
        ("for x in foo.items() {\n        x.a()\n    }", "Bar"),
        ("for (i, x) in foo.all.iter().enumerate() {\n        x.a()\n    }", "Bar"),
        ("if let Some(x) = &foo.bar {\n        x.a()\n    }", "Bar"),
        ("while let Some(x) = it.next() {\n        x.a()\n    }", "Bar"),
        ("match foo.find()? {\n        Some(x) => x.a(),\n        None => {}\n    }", "Bar"),
        ("let Ok(x) = foo.later().await else { return };\n    x.a()", "Bar"),
        ("let x = foo.bar;\n    let x = x.unwrap();\n    x.a()", "Bar"),
        ("let x: Box<dyn Shape> = todo();\n    x.a()", "Shape"),
        ("t.a()", "Shape"),
        ("i.a()", "Shape"),
        ("T::make().a()", "Shape"),
        ("let x = Bar::new().clone();\n    x.a()", "Bar"),
        ("let x = Arc::new(Bar::new());\n    let y = x.clone();\n    y.a()", "Bar"),
        ("let x = Arc::new(Bar::new());\n    let x = Arc::clone(&x);\n    go(async move { x.a() })", "Bar"),
        ("std::pin::Pin::new(&mut foo.pair.1).a()", "Bar"),
        ("let (mut x, _) = foo.both();\n    x.a()", "Bar"),
    ],
)
def test_types_of_variables(tmp_path, body, target):
    head = "use crate::types::{Bar, Foo, Shape};\n\nfn run<S: Shape, T>(foo: &Foo<S>, it: std::vec::"
    code = (
        f"{head}IntoIter<Bar>, t: &mut T, i: impl Shape)\nwhere\n    T: Shape + Send,\n{{\n    {body};\n}}\n"
    )
    tree = {"Cargo.toml": '[package]\nname = "m"\n', "src/types.rs": TYPES, "src/lib.rs": code}
    with world(tmp_path, tree) as files:
        calls = {call for call in files.calls() if call.endswith((".a", ")"))}
        assert calls == {f"src/lib.rs:run -> src/types.rs:{target}.a"}


def test_impl_blocks_in_other_files_than_the_type(tmp_path):
    tree = {
        "Cargo.toml": '[package]\nname = "m"\n',
        "src/lib.rs": "mod a;\nmod b;\nfn run(foo: a::Foo) { foo.near(); foo.far(); foo.part.tidy(); }\n",
        "src/a.rs": "pub struct Foo { pub part: Part }\npub struct Part;\n"
        "impl Foo { pub fn near(&self) {} }\n",
        "src/b.rs": "use crate::a::{Foo, Part};\n"
        "impl Foo { pub fn far(&self) { self.near(); self.part.tidy(); } }\n"
        "impl Part { pub fn tidy(&self) {} }\n",
    }
    with world(tmp_path, tree) as files:
        assert files.calls() == {
            "src/lib.rs:run -> src/a.rs:Foo.near",
            "src/lib.rs:run -> src/b.rs:Foo.far",
            "src/lib.rs:run -> src/b.rs:Part.tidy",
            "src/b.rs:Foo.far -> src/a.rs:Foo.near",
            "src/b.rs:Foo.far -> src/b.rs:Part.tidy",
        }


def test_inline_modules_have_imports_of_their_own(tmp_path):
    tree = {
        "Cargo.toml": '[package]\nname = "m"\n[dependencies]\njar = "1"\n',
        "src/lib.rs": "pub mod jar;\npub mod other;\npub fn tidy() {}\n",
        "src/jar.rs": "pub struct Jar { inner: jar::Jar }\n"
        "impl Jar { pub fn add(&self) { self.inner.add() } }\n"
        "fn own() { help() }\nfn help() {}\n"
        "/// Tests.\nmod tests {\n    use super::*;\n    use crate::other::help;\n"
        "    fn check(j: Jar) { j.add(); help(); own(); }\n}\n",
        "src/other.rs": "pub fn help() {}\n",
    }
    with world(tmp_path, tree) as files:
        assert {call for call in files.calls() if "(" not in call} == {
            "src/jar.rs:own -> src/jar.rs:help",
            "src/jar.rs:tests.check -> src/jar.rs:Jar.add",
            "src/jar.rs:tests.check -> src/other.rs:help",
            "src/jar.rs:tests.check -> src/jar.rs:own",
        }


def test_a_field_is_meant_where_a_method_has_its_name(tmp_path):
    code = "struct Part;\nimpl Part { fn tidy(&self) {} }\nstruct Foo { part: Part }\n"
    code += "impl Foo { fn part(&self) -> Foo { todo() } fn tidy(&self) {} }\n"
    code += "impl Foo { fn run(&self) { self.part.tidy() } }\n"
    with world(tmp_path, {"src/lib.rs": code}) as files:
        assert "src/lib.rs:Foo.run -> src/lib.rs:Part.tidy" in files.calls()


def test_a_variable_that_a_macro_binds_is_unknown(tmp_path):
    code = "struct Foo;\nimpl Foo { fn tidy_up(&self) {} }\n"
    code += "impl Foo { fn run(&self) { tap!(self, this => { this.tidy_up(); }) } }\n"
    with world(tmp_path, {"src/lib.rs": code}) as files:
        assert {call.partition(" (")[0] for call in files.calls()} == {
            "src/lib.rs:Foo.run -> src/lib.rs:Foo.tidy_up"
        }


def test_functions_as_values_are_possible_calls(tmp_path):
    code = "struct Foo;\nimpl Foo { fn of(n: u8) -> Foo { Foo } }\nfn parse(s: &str) -> u8 { 1 }\n"
    code += "fn run(all: Vec<&str>) { all.iter().map(parse).map(Foo::of); }\n"
    with world(tmp_path, {"src/lib.rs": code}) as files:
        assert files.calls() == {
            "src/lib.rs:run -> src/lib.rs:parse (possible)",
            "src/lib.rs:run -> src/lib.rs:Foo.of (possible)",
        }
