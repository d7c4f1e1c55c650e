"""Random patterns and texts over a small alphabet, so that they often match."""

from hypothesis import strategies as st

LETTERS = "abcsSkKA1_ .-é→ßſK\tΣς"
TEXTS = st.lists(st.text(alphabet=LETTERS + "\r\x0b\u200d\u2028", max_size=12), max_size=6).flatmap(
    lambda lines: st.sampled_from(["", "\n"]).map(lambda end: "\n".join(lines) + end)
)

_ATOMS = st.sampled_from([
    "a", "b", "c", "s", "S", "k", "A", "1", "_", " ", "é", "→", "ß", "abc", "sk", r"\.", "-", "ab",
    "bcs", "cab", ".", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\b", r"\B", "^", "$", r"\pL", r"\PL",
    r"\p{Greek}", "()", "[abc]", "[^abc]", "[a-c1]", r"[\w-]", r"[^\s_]", r"[\W\d]", "[[:alpha:]]",
    "[[:^space:]é]", "[a-z&&[^b]]", r"[\w--a]", "[a-c~~b-d]", "[^[ab]]", r"\x61", r"\u{e9}", "[]a]",
    "[a-]",

])  # fmt: skip


def _larger(inner):
    repeated = st.tuples(
        inner, st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"])
    )
    return st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map(lambda p: f"(?:{p})"),
        repeated.map(lambda pair: f"({pair[0]}){pair[1]}"),
        st.tuples(st.sampled_from(["(?i:", "(?P<n>", "(?s-i:", "(?U:", "(?x: "]), inner).map(
            lambda t: f"{t[0]}{t[1]})"
        ),
    )


PATTERNS = st.recursive(_ATOMS, _larger, max_leaves=7)
