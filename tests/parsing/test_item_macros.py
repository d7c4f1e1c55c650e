"""Items inside of Rust macro calls are found as if the call were not there."""

from __future__ import annotations

import pytest

from dowse.parsing.parser import parse_file


def names(text: str) -> list[tuple[str, int]]:
    found = parse_file(text.encode(), "rust", "lib.rs").definitions
    return [(each.qualified_name, each.start_line) for each in found if each.kind not in ("module", "impl")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cfg_net! {\n    pub struct Listener;\n}\n", [("Listener", 2)]),
        (
            "impl A {\n  cfg_rt! {\n    fn run(&self) {}\n  }\n  fn stop(&self) {}\n}\n",
            [("A.run", 3), ("A.stop", 5)],
        ),
        ("cfg_a! {\n  cfg_b! {\n    /// Doc.\n    fn deep() {}\n  }\n}\n", [("deep", 3)]),
        (
            "cfg_a! {\n  #[inline]\n  // why\n  pub(crate) async fn f() {}\n}\nfn g() {}\n",
            [("f", 2), ("g", 6)],
        ),
        ("vec! { 1, 2 };\nlazy! { static ref A: u8 = 1; }\nfn g() {}\n", [("g", 3)]),
        ("fn g() {\n  select! { fn_like => 1 }\n}\n", [("g", 1)]),
        ("cfg_a! {\n  fn broken( {\n}\nfn g() {}\n", None),
    ],
)
def test_items_inside_of_macro_calls(text, expected):
    found = names(text)
    assert expected is None or found == expected
