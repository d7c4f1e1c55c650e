"""What people come for, task by task: on three screens, in both themes, by mouse or by keys alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Error, Locator, Page, expect

from interfaces.http.running import Running
from web.browser import is_wider_than_screen
from web.conftest import Visitor

QUESTION = "/search?q=put+the+loaves+into+the+oven&index=bakery"
# More stops than any of the pages has.
_MAX_TABS = 250
_FOCUSED = "element => element === document.activeElement || element.contains(document.activeElement)"


@dataclass(frozen=True)
class User:
    """Somebody at the page; `keys` uses no mouse: what can't be reached by Tab fails."""

    page: Page
    run: Running
    keys: bool

    def click(self, target: Locator, key: str = "Enter") -> None:
        if not self.keys:
            target.first.click()
            return
        self.go_to(target.first)
        self.page.keyboard.press(key)

    def write(self, target: Locator, text: str) -> None:
        if self.keys:
            self.go_to(target)
            self.page.keyboard.press("Control+a")
            self.page.keyboard.type(text)
        else:
            target.fill(text)

    def select(self, target: Locator, label: str) -> None:
        if self.keys:
            self.go_to(target)
            self.page.keyboard.type(label)
        else:
            target.select_option(label=label)

    def check(self, group: Locator, name: str) -> None:
        """Take one of several radio buttons: Tab leads to the group, arrows inside of it."""
        option = group.get_by_label(name, exact=True)
        if not self.keys:
            option.check()
            return
        self.go_to(group)
        while not option.is_checked():
            self.page.keyboard.press("ArrowRight")

    def go_to(self, target: Locator) -> None:
        expect(target).to_be_visible()
        for _ in range(_MAX_TABS):
            if target.evaluate(_FOCUSED):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {target}")

    def symbol(self, name: str) -> str:
        return f"/symbol/bakery/{self.run.get('symbol', target=name, index='bakery')['symbol']['id']}"


Task = Callable[[User], None]
TASKS: dict[str, tuple[str, Task]] = {}


def task(address: str) -> Callable[[Task], Task]:
    """Register a task that begins at an address; "symbol NAME" is the page of a symbol."""

    def register(function: Task) -> Task:
        TASKS[function.__name__] = address, function
        return function

    return register


def _field(page: Page) -> Locator:
    return page.get_by_role("searchbox")


def _hits(page: Page) -> Locator:
    return page.get_by_role("article")


def _heading(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


@task("/")
def ask_a_question(user: User) -> None:
    user.write(_field(user.page), "retry with backoff")
    user.page.keyboard.press("Enter")
    expect(_hits(user.page).first).to_contain_text("retry_with_backoff")


@task("/")
def take_an_example(user: User) -> None:
    user.click(user.page.get_by_role("list", name="Example searches").get_by_role("link"))
    expect(_hits(user.page).first).to_be_visible()


@task("/")
def see_how_good_it_is(user: User) -> None:
    user.click(user.page.get_by_role("link", name="Evaluation"))
    expect(user.page.get_by_role("region", name="In short")).to_contain_text("dowse shows a right answer")


@task("/search")
def take_an_example_question(user: User) -> None:
    user.click(user.page.get_by_role("region", name="Example questions").get_by_role("link"))
    expect(_hits(user.page).first).to_be_visible()


@task(QUESTION)
def go_back_to_the_first_query(user: User) -> None:
    user.write(_field(user.page), "parse_order")
    expect(user.page).to_have_title("parse_order · dowse")
    user.page.go_back()
    expect(user.page).to_have_title("put the loaves into the oven · dowse")


@task("/search?q=order&index=bakery")
def leave_only_functions(user: User) -> None:
    user.click(user.page.get_by_role("button", name="Only kind:function"))
    expect(_field(user.page)).to_have_value("order kind:function")


@task("/search?q=order+lang:python&index=bakery")
def take_a_filter_away(user: User) -> None:
    user.click(user.page.get_by_role("button", name="Remove lang:python"))
    expect(_field(user.page)).to_have_value("order")


@task(QUESTION)
def search_by_keywords_alone(user: User) -> None:
    user.check(user.page.get_by_role("group", name="Mode"), "Keywords")
    expect(user.page.get_by_text(re.compile("^By keywords ·"))).to_be_visible()


@task(QUESTION)
def search_by_meaning_alone(user: User) -> None:
    user.check(user.page.get_by_role("group", name="Mode"), "Meaning")
    expect(user.page.get_by_text(re.compile("^By meaning ·"))).to_be_visible()


@task("/search?index=bakery")
def find_who_calls_it(user: User) -> None:
    user.write(_field(user.page), "what calls Dough.knead")
    expect(_hits(user.page).first.locator("code .bg-wash")).to_contain_text("knead(")


@task("/search?index=bakery")
def find_lines_by_a_pattern(user: User) -> None:
    user.write(_field(user.page), "/def bake_\\w+/")
    expect(_hits(user.page).first).to_contain_text("1 matching line")


@task("/search?index=bakery")
def find_a_name(user: User) -> None:
    user.write(_field(user.page), "parse_order")
    expect(_hits(user.page).first.get_by_role("heading")).to_contain_text("parse_order")


@task("/search?q=xylophone&mode=keyword&index=bakery")
def go_on_when_nothing_was_found(user: User) -> None:
    user.click(user.page.get_by_role("button", name="Search by keywords and meaning"))
    expect(user.page).to_have_url(re.compile("mode=hybrid"))


@task("/search?q=lang:klingon+order&index=bakery")
def go_on_after_a_mistake(user: User) -> None:
    user.click(user.page.get_by_role("button", name="Take it as plain text"))
    expect(_hits(user.page).first).to_be_visible()


@task(QUESTION + "&mode=hybrid")
def see_more_hits(user: User) -> None:
    expect(_hits(user.page)).to_have_count(10)
    user.click(user.page.get_by_role("button", name="Show more", exact=True))
    expect(_hits(user.page)).to_have_count(20)


@task("/search?q=bake_bread&index=bakery")
def read_all_of_its_code(user: User) -> None:
    more = user.page.get_by_role("button", name=re.compile(r"^Show \d+ more line"))
    user.click(more)
    expect(user.page.get_by_role("button", name="Show less").first).to_be_visible()


@task(QUESTION)
def choose_as_an_expert(user: User) -> None:
    user.click(user.page.get_by_role("button", name="Expert"))
    user.select(user.page.get_by_label("Fusion"), "rrf")
    expect(user.page).to_have_url(re.compile("fusion=rrf"))


@task(QUESTION)
def see_how_it_was_searched(user: User) -> None:
    user.click(user.page.locator("summary", has_text=re.compile("^By ")))
    expect(user.page.get_by_label("How it was searched")).to_contain_text("Candidates")


@task(QUESTION + "&mode=hybrid")
def see_why_a_hit_is_there(user: User) -> None:
    fold = user.page.locator("summary", has_text="Why it is here")
    expect(_hits(user.page).first).to_be_visible()
    if fold.count():
        user.click(fold)
    expect(user.page.get_by_role("region", name=re.compile("^Why"))).to_contain_text("Keywords")


@task("/search?q=sweep")
def search_one_of_two_indexes(user: User) -> None:
    user.select(user.page.get_by_label("Index", exact=True), "inn")
    expect(user.page).to_have_url(re.compile("index=inn"))
    expect(_hits(user.page).first).to_contain_text("sweep")


@task(QUESTION)
def open_a_hit(user: User) -> None:
    link = _hits(user.page).first.get_by_role("heading").get_by_role("link")
    name = link.inner_text()
    user.click(link)
    expect(_heading(user.page)).to_have_text(name)


@task("symbol bake_bread")
def go_to_what_it_calls(user: User) -> None:
    calls = user.page.get_by_role("region", name="Calls", exact=True)
    user.click(calls.get_by_role("link", name="Dough.knead"))
    expect(_heading(user.page)).to_have_text("Dough.knead")


@task("symbol bake_bread")
def go_on_in_its_file(user: User) -> None:
    outline = user.page.get_by_role("navigation", name="Outline of the file")
    user.click(outline.get_by_role("link", name=re.compile("^getUserName")))
    expect(_heading(user.page)).to_have_text("getUserName")


@task("symbol Dough")
def go_to_a_method_of_a_class(user: User) -> None:
    members = user.page.get_by_role("navigation", name="Members of Dough")
    user.click(members.get_by_role("link", name=re.compile("^knead")))
    expect(_heading(user.page)).to_have_text("Dough.knead")


@task("symbol Order")
def see_who_uses_its_users(user: User) -> None:
    graph = user.page.get_by_role("region", name="Graph", exact=True)
    expect(graph.locator('[data-layer="-1"]').first).to_be_visible()
    user.check(graph.get_by_role("group", name="Depth"), "2")
    expect(graph.get_by_label("2", exact=True)).to_be_checked()


@task("symbol bake_bread")
def search_its_callers(user: User) -> None:
    user.click(user.page.get_by_role("link", name="Search its callers"))
    expect(_field(user.page)).to_have_value("what calls bake_bread")


@task("/eval")
def see_all_figures_of_a_set(user: User) -> None:
    user.click(user.page.locator("summary", has_text="All figures"))
    user.click(user.page.get_by_role("button", name="rolls"))
    expect(user.page.get_by_role("region", name="Set rolls")).to_be_visible()


@task("/eval?order=worst")
def compare_two_runs(user: User) -> None:
    user.select(user.page.get_by_label("Compare with"), "before (own, before-change)")
    expect(user.page.get_by_role("region", name="Comparison").get_by_role("row").first).to_be_visible()


@task("/status")
def see_why_a_file_is_left_out(user: User) -> None:
    reason = user.page.get_by_role("list", name="Reasons").get_by_role("button").first
    user.click(reason)
    expect(reason).to_have_attribute("aria-pressed", "true")


@task("/search")
def read_the_help(user: User) -> None:
    user.click(user.page.get_by_role("button", name="Keys and query language"))
    expect(user.page.get_by_role("dialog")).to_contain_text("What you can ask")
    user.page.keyboard.press("Escape")
    expect(user.page.get_by_role("dialog")).to_be_hidden()


@task("/search")
def change_the_theme(user: User) -> None:
    theme = user.page.get_by_role("button", name=re.compile("^Theme"))
    before = theme.get_attribute("aria-label")
    user.click(theme)
    expect(theme).not_to_have_attribute("aria-label", before or "")
    user.page.evaluate("localStorage.removeItem('dowse.theme')")


@task("/nowhere")
def return_from_a_wrong_address(user: User) -> None:
    user.click(user.page.get_by_role("link", name="dowse: start"))
    expect(_heading(user.page)).to_have_text("Find code by what it does.")


@pytest.mark.parametrize(
    ("width", "theme", "keys"),
    [
        (375, "dark", False),
        *(
            pytest.param(width, theme, keys, marks=pytest.mark.large)
            for width in (375, 768, 1280)
            for theme in ("dark", "light")
            for keys in (False, True)
            if (width, theme, keys) != (375, "dark", False)
        ),
    ],
)
def test_tasks(visitor: Visitor, server: Running, width: int, theme: str, keys: bool) -> None:
    assert len(TASKS) >= 30
    page = visitor.open("/", width=width, theme=theme)
    failed = {}
    for name, (address, work) in TASKS.items():
        user = User(page, server, keys)
        page.goto(user.symbol(address.partition(" ")[2]) if address.startswith("symbol ") else address)
        try:
            work(user)
            assert not is_wider_than_screen(page)
        except (AssertionError, Error) as error:
            failed[name] = f"{error}\n{page.url}\n{page.inner_text('body')}"
    assert not failed, "\n\n".join(failed.values())
