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
