"""Judging by hand: blind pools, a dialogue that loses nothing, sheets and back, cases at both levels."""

import io
import json
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import EvalError
from dowse.eval.clean_index import answer_files
from dowse.eval.datasets.jsonl import read_cases, write_cases
from dowse.eval.evaluate import evaluate
from dowse.eval.judge import (
    GRADES,
    Item,
    Judgement,
    Judgements,
    Question,
    agreement,
    judge,
    pool,
    read_queries,
    read_sheet,
    write_sheet,
)
from dowse.eval.types import SearchResult

A = Item("a.py", "f", 1, 3, "function", ((1, "def f():"), (2, "    return 1")))
B = Item("a.py", "C.g", 5, 9, "method", ((5, "def g(self):"),))
C = Item("b/c.py", "h", 2, 4, "function", ((2, "def h():"),))
QUESTIONS = (Question("judge-1", "where is f", (A, B)), Question("judge-2", "what does h do", (C, A)))


@pytest.fixture
def log(tmp_path):
    return tmp_path / "judgements.jsonl"


def play(log, answers, questions=QUESTIONS):
    """Judge with some answers; return whether all is judged, and what was on the screen."""
    screen = io.StringIO()
    with Judgements(log) as judgements:
        done = judge(questions, judgements, io.StringIO("".join(f"{each}\n" for each in answers)), screen)
    return done, screen.getvalue()


def grades(log):
    with Judgements(log) as judgements:
        return [(each.question[-1], each.item.key, each.grade) for each in judgements.all()]


class TestPool:
    def test_results_of_all_ways_once_each(self):
        ways = [
            lambda q, k: [SearchResult("a.py", "f", 1, 3), SearchResult("b.py", "g")],
            lambda q, k: ["b.py::g", "c.py"],
        ]
        (question,) = pool(ways, ["q"])
        assert sorted(item.key for item in question.items) == ["a.py::f", "b.py::g", "c.py"]

    def test_only_the_first_k_of_each_way(self):
        def many(query, k):
            return (f"{i}.py" for i in range(1_000_000_000))

        assert len(pool([many], ["q"], 7)[0].items) == 7

    def test_order_says_nothing_about_rank_or_way(self):
        def forth(query, k):
            return [f"{i}.py" for i in range(9)]

        def back(query, k):
            return [f"{i}.py" for i in reversed(range(9))]

        one, other = (pool(ways, ["q", "p"]) for ways in ([forth, back], [back]))
        assert one == other  # whoever found them, at whatever rank
        orders = [[item.path for item in question.items] for question in one]
        assert orders[0] != orders[1]  # but each question has its own
        assert all(order not in (forth("", 0), back("", 0)) for order in orders)

    def test_an_index_is_asked_in_its_modes(self, sample_index):
        questions = pool(sample_index, ["bake bread"], 5)
        items = questions[0].items
        assert len(items) >= 5
        assert all(item.path and item.kind and item.lines for item in items)
        hits = sample_index.search("bake bread", k=5, mode="keyword").hits
        assert {f"{h.symbol.path}::{h.symbol.qualified_name}" for h in hits} <= {item.key for item in items}

    def test_text_of_a_place_is_read_and_made_harmless(self, tmp_path):
        (tmp_path / "a.py").write_text("one\n\x1b[31mtwo\n\nthree \u202e\u2028x\nfour")
        (question,) = pool([lambda q, k: [SearchResult("a.py", "", 2, 4)]], ["q"], root=tmp_path)
        assert question.items[0].lines == ((2, "�[31mtwo"), (4, "three ��x"))
        (question,) = pool([lambda q, k: ["gone.py"]], ["q"], root=tmp_path)
        assert question.items[0].lines == ()

    def test_queries_by_line_and_as_objects(self, tmp_path):
        path = tmp_path / "q.txt"
        path.write_text('# mine\nfirst  one\n\n{"query": "second\\none", "id": 3}\nfirst one\n#include "x"\n')
        assert read_queries(path) == ["first one", "second one", '#include "x"']
        path.write_text('fine\n{"question": "?"}\n')
        with pytest.raises(EvalError, match=r'q.txt:2: no question; write its text under "query"'):
            read_queries(path)
        path.write_text("\n")
        with pytest.raises(EvalError, match="no questions"):
            read_queries(path)

    def test_nothing_to_search_with(self):
        with pytest.raises(EvalError, match="at least one"):
            pool([], ["q"])


class TestDialogue:
    def test_everything_once(self, log):
        done, screen = play(log, "3102")
        assert done
        assert grades(log) == [
            ("1", "a.py::f", 3),
            ("1", "a.py::C.g", 1),
            ("2", "b/c.py::h", 0),
            ("2", "a.py::f", 2),
        ]
        assert "all 4 results of 2 queries are judged" in screen

    def test_what_is_shown(self, log):
        _, screen = play(log, "30q")
        assert (
            "query 1 of 2, 2 left (4 left in all)\n  where is f\n\na.py:1 · function f\n     1 | def f():"
            in screen
        )
        assert "query 1 of 2, 1 left (3 left in all)\n" in screen
        assert "query 2 of 2, 2 left (2 left in all)\n" in screen
        assert "5 lines in all" in screen  # of C.g, of which only the first is shown
        assert "2 judged, 2 left" in screen
        assert all(meaning in screen for meaning in GRADES.values())

    def test_it_goes_on_where_it_was(self, log):
        assert play(log, "3q")[0] is False
        done, screen = play(log, "123")
        assert done and "where is f" in screen and "a.py:1" not in screen.split("what does h do")[0]
        done, screen = play(log, "")
        assert done and ">" not in screen  # nothing is asked again
        assert [grade for *_, grade in grades(log)] == [3, 1, 2, 3]

    def test_the_end_of_input_is_quitting(self, log):
        done, screen = play(log, "2")
        assert not done and "all is saved" in screen
        assert len(grades(log)) == 1

    def test_ctrl_c_is_quitting(self, log):
        class Interrupted(io.StringIO):
            def readline(self, *_):
                raise KeyboardInterrupt

        screen = io.StringIO()
        with Judgements(log) as judgements:
            assert not judge(QUESTIONS, judgements, Interrupted(), screen)
        assert "all is saved" in screen.getvalue()

    def test_skipping_leaves_it_open(self, log):
        done, screen = play(log, "s123")
        assert not done and "3 judged, 1 skipped; the next time asks for those again" in screen
        with Judgements(log) as judgements:
            (case,) = (case for case in judgements.cases() if case.id == "judge-1")
            assert len(judgements) == 3
        assert case.symbols and "a.py::f" not in case.symbols

    def test_what_was_skipped_is_asked_the_next_time(self, log):
        play(log, "s1q")
        done, screen = play(log, "232")
        assert done and "so far: skipped" in screen
        assert sorted(grades(log)) == [
            ("1", "a.py::C.g", 1),
            ("1", "a.py::f", 2),
            ("2", "a.py::f", 2),
            ("2", "b/c.py::h", 3),
        ]

    def test_a_skip_can_be_undone_and_graded_in_the_same_sitting(self, log):
        assert play(log, "su3102")[0]
        assert len(grades(log)) == 4

    def test_skipping_everything_ends_the_sitting(self, log):
        done, screen = play(log, "ssss")
        assert not done and screen.count("grade 0–3") == 4 and "0 judged, 4 skipped" in screen

    def test_back_shows_the_old_grade_and_takes_a_new_one(self, log):
        _, screen = play(log, "3b2q")
        assert f"so far: 3, {GRADES[3]}" in screen
        assert grades(log) == [("1", "a.py::f", 2)]

    def test_back_and_enter_keeps(self, log):
        play(log, ["3", "b", "", "1", "q"])
        assert grades(log) == [("1", "a.py::f", 3), ("1", "a.py::C.g", 1)]

    def test_back_from_the_first(self, log):
        assert "this is the first one" in play(log, "bq")[1]

    def test_undo_again_and_again(self, log):
        _, screen = play(log, "32uu1q")
        assert screen.count("taken back:") == 2
        assert grades(log) == [("1", "a.py::f", 1)]

    def test_undo_of_the_last_session(self, log):
        play(log, "3q")
        play(log, "uq")
        assert grades(log) == []
        assert "nothing to undo" in play(log, "uq")[1]

    def test_undo_shows_the_same_result_again(self, log):
        only = (Question("judge-1", "q", (A, B)),)
        _, screen = play(log, "3uq", only)
        assert screen.count("a.py:1 · function f") == 2

    def test_notes(self, log):
        play(log, ["n", "why not?", "2", "b", "n", "because", "q"])
        with Judgements(log) as judgements:
            (only,) = judgements.all()
        assert (only.grade, only.note) == (2, "because")
        first = [json.loads(line) for line in log.read_text().splitlines()][1]
        assert (first["grade"], first["note"]) == (2, "why not?")  # grading kept the note

    def test_nonsense_is_answered_and_not_saved(self, log):
        _, screen = play(log, ["7", "yes", "-1", "", "1.5", "\x1b[A", "?", "q"])
        assert screen.count("is no answer") == 6
        assert "\x1b" not in screen
        assert grades(log) == []

    def test_nothing_to_judge(self, log):
        assert play(log, "", ())[0]

    @given(answers=st.lists(st.sampled_from(["0", "1", "2", "3", "s", "b", "u", "", "?", "x"]), max_size=25))
    def test_any_answers_in_any_two_sittings(self, tmp_path_factory, answers):
        folder = tmp_path_factory.mktemp("any")
        half = len(answers) // 2
        play(folder / "two", answers[:half])
        before = grades(folder / "two")
        play(folder / "two", [])
        assert grades(folder / "two") == before  # looking changes nothing
        for question, key, grade in before:
            assert grade in (None, 0, 1, 2, 3) and question in "12" and key in [i.key for i in (A, B, C)]
        if not {"b", "u", "", "s"} & set(answers):  # then where one stops makes no difference
            play(folder / "two", answers[half:])
            play(folder / "one", answers)
            assert grades(folder / "one") == grades(folder / "two")


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from dowse.eval.judge import Item, Judgements, Question, judge
items = tuple(Item("a.py", name, 1, 1, "function", ((1, "def f():"),)) for name in "fgh")
with Judgements({log!r}) as judgements:
    judge([Question("judge-1", "where is f", items)], judgements, sys.stdin, sys.stdout)
"""


def script(log):
    return [sys.executable, "-c", SCRIPT.format(log=str(log), tests=str(Path(__file__).parent))]


class TestProcesses:
    def test_a_kill_loses_nothing(self, log):
        process = subprocess.Popen(script(log), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdin.write("3\n1\n")
        process.stdin.flush()
        for line in process.stdout:  # the third result is on the screen once the second answer is saved
            if "function h" in line:
                break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert grades(log) == [("1", "a.py::f", 3), ("1", "a.py::g", 1)]

    @pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
    def test_on_a_real_terminal(self, log):
        import fcntl
        import pty
        import termios

        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            script(log),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C reaches it
        )
        os.close(theirs)
        seen = b""
        for answer in (b"2\n", b"u\n", b"3\n"):
            seen += _until_prompt(ours)
            os.write(ours, answer)
        seen += _until_prompt(ours) + _interrupt(ours)
        assert process.wait(30) == 0
        os.close(ours)
        text = seen.decode()
        assert "taken back:" in text and "1 judged, 2 left; all is saved" in text
        assert "Traceback" not in text
        assert grades(log) == [("1", "a.py::f", 3)]


def _until_prompt(terminal):
    seen = b""
    while not seen.endswith(b"q ? > "):
        assert select.select([terminal], [], [], 30)[0], seen
        seen += os.read(terminal, 4096)
    return seen


def _interrupt(terminal):
    """Press Ctrl-C, again after silence: Python misses one on the way into its wait for input."""
    seen = b""
    for _ in range(30):
        os.write(terminal, b"\x03")
        while select.select([terminal], [], [], 1)[0]:
            try:
                seen += os.read(terminal, 4096)
            except OSError:  # the other side is closed
                return seen
    return seen


class TestJudgements:
    def test_a_torn_line_is_dropped_and_nothing_else(self, log):
        play(log, "31q")
        whole = log.read_bytes()
        for cut in range(whole.index(b"\n") + 2, len(whole) - 1):
            log.write_bytes(whole[:cut])
            assert grades(log) == [("1", "a.py::f", 3)]
            play(log, "2q")  # and one goes on behind it
            assert [grade for *_, grade in grades(log)] == [3, 2]

    def test_a_missing_line_feed_is_no_torn_line(self, log):
        play(log, "31q")
        log.write_bytes(log.read_bytes().rstrip(b"\n"))
        assert len(grades(log)) == 2
        play(log, "2q")
        assert len(grades(log)) == 3

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("{", "not valid JSON"),
            ('{"query": "q", "grade": 1}', "no judgement"),
            ('{"question": "q", "query": "q", "path": "a", "grade": 4}', "4 is no grade"),
            ('{"question": "q", "query": "q", "path": "a", "grade": true}', "True is no grade"),
            ('{"question": "q", "query": "q", "path": 7, "grade": 1}', "no judgement"),
        ],
    )
    def test_other_lines_are_named(self, log, line, message):
        log.write_text(f"{line}\n")
        with pytest.raises(EvalError, match=rf"judgements.jsonl:1: .*{message}"):
            Judgements(log)

    def test_grades_have_bounds(self, log):
        with Judgements(log) as judgements, pytest.raises(EvalError, match="a grade is one of"):
            judgements.record(QUESTIONS[0], A, 4)
        assert log.read_text() == ""

    def test_a_place_that_cannot_be_written(self, tmp_path):
        with pytest.raises(EvalError, match="name another file"):
            Judgements(tmp_path)

    def test_cases_have_both_levels_and_zeros(self, log, tmp_path):
        play(log, "1300")
        with Judgements(log) as judgements:
            cases = judgements.cases()
        assert [case.query for case in cases] == ["where is f", "what does h do"]
        assert cases[0].symbols == {"a.py::f": 1.0, "a.py::C.g": 3.0}
        assert cases[0].files == {"a.py": 3.0}  # the best of its symbols
        assert cases[1].symbols == {"b/c.py::h": 0.0, "a.py::f": 0.0}
        assert cases[1].files == {"b/c.py": 0.0, "a.py": 0.0}
        write_cases(tmp_path / "cases.jsonl", cases)
        assert read_cases(tmp_path / "cases.jsonl") == cases

    def test_grade_of_a_file_follows_when_a_symbol_is_graded_again(self, log):
        play(log, "31bb0q")
        with Judgements(log) as judgements:
            assert judgements.cases()[0].files == {"a.py": 1.0}

    def test_results_without_names_count_for_files_and_entries_for_themselves(self, log):
        items = (Item("a.py", "", 3, 9), Item("a.py", "", 20, 22), Item(id="entry7"))
        play(log, "231", (Question("judge-1", "q", items),))
        with Judgements(log) as judgements:
            (case,) = judgements.cases()
        assert case.files == {"a.py": 3.0}
        assert case.symbols == {"entry7": 1.0}

    def test_what_was_judged_can_be_measured(self, log, sample_index):
        questions = pool(sample_index, ["bake bread"], 5)
        play(log, ["3"] + ["0"] * (len(questions[0].items) - 1), questions)
        with Judgements(log) as judgements:
            cases = judgements.cases()
        best = questions[0].items[0].key
        for level, result in (("symbol", best), ("file", best.partition("::")[0])):
            row = evaluate(lambda query, k, found=result: [found], cases, level=level)
            assert row.metrics["ndcg@10"] == 1.0 and row.metrics["judged@10"] == 1.0


class TestSheet:
    @pytest.fixture
    def sheet(self, tmp_path):
        path = tmp_path / "sheet.md"
        assert write_sheet(path, QUESTIONS) == 4
        return path

    def fill(self, sheet, *said):
        """Write something after each `grade:`."""
        left = iter(said)
        sheet.write_text(re.sub(r"(?m)^grade:.*$", lambda _: f"grade: {next(left)}", sheet.read_text()))

    def test_there_and_back(self, sheet, log):
        self.fill(sheet, "3", "0", "s", "")
        read = read_sheet(sheet)
        assert [(each.key[1], each.grade, each.skipped) for each in read.judgements] == [
            ("a.py::f", 3, False),
            ("a.py::C.g", 0, False),
            ("b/c.py::h", None, True),
        ]
        assert read.empty == 1 and read.problems == ()
        with Judgements(log) as judgements:
            assert judgements.add(read.judgements) == 3
            assert judgements.add(read.judgements) == 0  # reading it again is no news
        assert "query 2 of 2, 2 left" in play(log, "q")[1]  # one goes on in the terminal

    def test_it_shows_what_a_judge_needs_and_no_more(self, sheet):
        text = sheet.read_text()
        assert "## Query 1 of 2: where is f" in text
        assert "### a.py:1 · function f" in text
        assert "         1 | def f():" in text
        assert all(meaning in text for meaning in GRADES.values())

    def test_grades_so_far_are_in_it(self, tmp_path, log):
        play(log, ["2", "n", "hm", "s", "q"])
        with Judgements(log) as judgements:
            write_sheet(tmp_path / "s.md", QUESTIONS, judgements)
            read = read_sheet(tmp_path / "s.md")
            assert judgements.add(read.judgements) == 0
        assert [(each.grade, each.skipped, each.note) for each in read.judgements] == [
            (2, False, ""),
            (None, True, "hm"),
        ]

    def test_work_is_never_overwritten(self, sheet):
        before = sheet.read_text()
        with pytest.raises(EvalError, match="read it back first"):
            write_sheet(sheet, QUESTIONS)
        assert sheet.read_text() == before

    @pytest.mark.parametrize(
        ("said", "grade"),
        [("2", 2), (" 2 ", 2), ("[2]", 2), ("**2**", 2), ("2, but only half of it", 2), ("2 - partly", 2)],
    )
    def test_people_write_grades_in_many_ways(self, sheet, said, grade):
        self.fill(sheet, said, "", "", "")
        read = read_sheet(sheet)
        assert [each.grade for each in read.judgements] == [grade] and not read.problems

    @pytest.mark.parametrize("line", ["Grade:2", "GRADE = 2", "- grade: 2", "**grade**: 2", "  grade : 2"])
    def test_and_the_word_itself(self, sheet, line):
        sheet.write_text(sheet.read_text().replace("\ngrade:", f"\n{line}", 1))
        assert [each.grade for each in read_sheet(sheet).judgements] == [2]

    @pytest.mark.parametrize("said", ["4", "-1", "2.5", "2/3", "two", "2 3", "22", "x"])
    def test_what_is_no_grade_is_named_by_line(self, sheet, said):
        self.fill(sheet, said, "1", "", "")
        read = read_sheet(sheet)
        number = next(
            i for i, line in enumerate(sheet.read_text().splitlines(), 1) if line == f"grade: {said}"
        )
        assert [each.grade for each in read.judgements] == [1]  # the others count
        assert len(read.problems) == 1
        assert read.problems[0].startswith(f"{sheet}:{number}: ") and repr(said) in read.problems[0]

    def test_damage_is_named(self, sheet):
        self.fill(sheet, "1", "2", "3", "0")
        lines = sheet.read_text().splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("<!-- result"))
        lines[at] = lines[at].replace('"path"', '"pat')
        sheet.write_text("\n".join(["grade: 3", *lines]))
        read = read_sheet(sheet)
        assert [each.grade for each in read.judgements] == [2, 3, 0]
        places = [int(problem.removeprefix(f"{sheet}:").partition(":")[0]) for problem in read.problems]
        assert places[:2] == [1, at + 2]

    def test_two_grades_for_one(self, sheet):
        sheet.write_text(sheet.read_text().replace("\ngrade:", "\ngrade: 1\ngrade: 2", 1))
        read = read_sheet(sheet)
        assert read.judgements == () and "several grades" in read.problems[0]

    def test_windows_and_a_byte_order_mark(self, sheet):
        self.fill(sheet, "1", "2", "3", "0")
        sheet.write_bytes(b"\xef\xbb\xbf" + sheet.read_bytes().replace(b"\n", b"\r\n"))
        assert [each.grade for each in read_sheet(sheet).judgements] == [1, 2, 3, 0]

    def test_no_sheet_at_all(self, tmp_path):
        (tmp_path / "notes.md").write_text("# Notes\n")
        with pytest.raises(EvalError, match="is no sheet"):
            read_sheet(tmp_path / "notes.md")
        with pytest.raises(EvalError, match="check the path"):
            read_sheet(tmp_path / "gone.md")

    TEXT = st.text(st.characters(codec="utf-8"), max_size=30)

    @given(query=TEXT, path=TEXT, symbol=TEXT, code=TEXT, grade=st.sampled_from(list(GRADES)))
    def test_any_text_survives(self, tmp_path_factory, query, path, symbol, code, grade):
        folder = tmp_path_factory.mktemp("sheet")
        source = folder / "code"
        source.write_text(f"grade: 3\n{code}\n<!-- result", encoding="utf-8")
        lines = pool([lambda q, k: ["code"]], ["q"], root=folder)[0].items[0].lines
        question = Question("judge-1", query or "q", (Item(path, symbol, 1, 2, "function", lines, "x"),))
        write_sheet(folder / "s.md", [question])
        self.fill(folder / "s.md", str(grade))
        read = read_sheet(folder / "s.md")
        assert not read.problems
        (only,) = read.judgements
        assert (only.query, only.path, only.symbol, only.grade) == (question.query, path, symbol, grade)

    def test_no_index_for_evaluation_holds_it(self, sheet, log):
        play(log, "3q")
        assert set(answer_files(sheet.parent)) == {"/sheet.md", "/judgements.jsonl"}


class TestAgreement:
    def judged(self, *said):
        return [Judgement("judge-1", "q", f"{i}.py", "", 0, 0, grade=g) for i, g in enumerate(said)]

    def test_like_the_matrix_of_the_textbook(self):
        import numpy as np

        one, other = [0, 1, 2, 3, 3, 0, 1, 1, 2, 0], [0, 1, 1, 3, 2, 0, 3, 1, 2, 1]
        seen = np.zeros((4, 4))
        np.add.at(seen, (one, other), 1)
        chance = np.outer(seen.sum(1), seen.sum(0)) / seen.sum()
        weights = np.subtract.outer(np.arange(4), np.arange(4)) ** 2
        found = agreement(self.judged(*one), self.judged(*other))
        assert found.kappa == pytest.approx(1 - (weights * seen).sum() / (weights * chance).sum())
        assert (found.results, found.same) == (10, 0.6)

    def test_only_what_both_graded(self):
        assert agreement(self.judged(3, None, 0, 1), self.judged(3, 2, 0)).results == 2
        with pytest.raises(EvalError, match="nothing in common"):
            agreement(self.judged(None), self.judged(2))

    def test_one_grade_for_everything(self):
        assert agreement(self.judged(2, 2), self.judged(2, 2)).kappa == 1.0
        assert agreement(self.judged(2, 2), self.judged(1, 2)).kappa == 0.0
