"""What was seen before is told, exactly or nearly, and what is new is not."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from dowse_training.pairs.duplicates import MAX_SAME_DOC, NEARLY, Duplicates, agreement, near_signature

CODE = """def newest(entries, age, clock):
    now = clock.now()
    fresh = [entry for entry in entries if now - entry.time <= age]
    if not fresh:
        raise LookupError("nothing that new")
    fresh.sort(key=lambda entry: entry.time)
    return fresh[-1]"""


def test_the_same_code_in_another_layout_is_an_exact_duplicate():
    seen = Duplicates()
    assert seen.reason("Find the newest.", CODE) == ""
    assert seen.reason("Something else.", CODE.replace("    ", "\t").upper()) == "exact duplicate"


def test_known_code_is_an_exact_duplicate():
    seen = Duplicates()
    seen.add_known([CODE])
    assert seen.reason("Find the newest.", CODE + "\n") == "exact duplicate"


def test_a_small_change_is_a_near_duplicate():
    seen = Duplicates()
    seen.reason("Find the newest.", CODE * 3)
    assert (
        seen.reason("Other words.", (CODE * 3).replace("nothing that new", "nothing so new"))
        == "near duplicate"
    )


def test_another_function_of_the_same_kind_is_new():
    seen = Duplicates()
    seen.reason("Find the newest.", CODE)
    other = CODE.replace("fresh", "stale").replace("<=", ">").replace("age", "limit").replace("[-1]", "[0]")
    assert seen.reason("Find the oldest.", other.replace("newest", "oldest").replace("entry", "item")) == ""


def test_documentation_is_let_through_only_so_often():
    seen = Duplicates()
    codes = ["\n".join(random.Random(n).choices("abcdefghijklmnopqrstuvwxyz", k=60)) for n in range(5)]
    reasons = [seen.reason(f"Initialise the object.\n\nMore {n}", code) for n, code in enumerate(codes)]
    assert reasons == [""] * MAX_SAME_DOC + ["documentation seen before"] * (5 - MAX_SAME_DOC)


def test_what_is_dropped_is_not_remembered():
    seen = Duplicates()
    for number in range(4):
        seen.reason("The same words.", f"def f{number}(): return g({number}, {number + 1}, h)")
    late = "def f3(): return g(3, 4, h)"
    assert seen.reason("Other words.", late) == ""


words = st.lists(st.sampled_from([f"w{n}" for n in range(40)]), min_size=1, max_size=80)


@given(words)
def test_a_text_agrees_with_itself(some):
    signature = near_signature(" ".join(some))
    assert agreement(signature, near_signature("\n".join(some))) == 1


def test_agreement_estimates_the_overlap_of_shingles():
    """Against the true overlap, over many texts of which a known part was replaced."""
    chooser = random.Random(3)
    for replaced in (0, 10, 60, 190):
        estimates, truths = [], []
        for _ in range(40):
            one = [f"a{chooser.randrange(10**6)}" for _ in range(200)]
            other = [*(f"b{chooser.randrange(10**6)}" for _ in range(replaced)), *one[replaced:]]
            estimates.append(agreement(near_signature(" ".join(one)), near_signature(" ".join(other))))
            first, second = ({tuple(text[n : n + 3]) for n in range(198)} for text in (one, other))
            truths.append(len(first & second) / len(first | second))
        assert abs(sum(estimates) - sum(truths)) / 40 < 0.06


def test_unrelated_texts_hardly_agree():
    one, other = (" ".join(f"{letter}{n}" for n in range(100)) for letter in "ab")
    assert agreement(near_signature(one), near_signature(other)) < NEARLY / 4
