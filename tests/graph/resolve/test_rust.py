"""Rust: crates, modules, types of values, macros."""

from __future__ import annotations

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
