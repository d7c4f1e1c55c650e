"""What answers say: where, how complete, how sure, and what to do next."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dowse.errors import DowseError
from dowse.interfaces.mcp.arguments import SEARCH_MODEL, CallsArguments, RelatedArguments, SymbolArguments
from dowse.interfaces.mcp.reply import ToolContext
from dowse.interfaces.mcp.repositories import OutsideRoots, Repositories, Repository
from dowse.interfaces.mcp.search_tools import related, search
from dowse.interfaces.mcp.symbol_tools import calls, open_symbol, symbol
from dowse.services.calls import Call
from dowse.symbol_lookup import UnknownName

from helpers import write_tree


def asked(*repositories: Repository) -> ToolContext:
    return ToolContext(repositories, Call())


@pytest.fixture
def two(tmp_path: Path) -> Repositories:
    """Two repositories whose folders have the same name, and that share a symbol."""
    text = "def sweep(floor):\n    return floor\n"
    for name in ("a", "b"):
        write_tree(
            tmp_path / name / "inn", {"inn.py": text, f"only_{name}.py": f"def only_{name}():\n    pass\n"}
        )
    repositories = Repositories({"refresh": "never"})
    for repository in repositories.open([tmp_path / "a" / "inn", tmp_path / "b" / "inn"]):
        repository.index.update()
    return repositories


def test_hits_have_locations_that_can_be_opened(served: Repository) -> None:
    reply = search(asked(served), SEARCH_MODEL(query="bake bread", detail="names"))
    places = re.findall(r"^\d+\. (\S+):(\d+)-(\d+) ", reply.text, re.MULTILINE)
    assert len(places) == len(reply.data.hits)
    for path, first, last in places:
        lines = (served.index.root / path).read_text(errors="replace").count("\n") + 1
        assert 1 <= int(first) <= int(last) <= lines
    assert reply.text.endswith(f"\n(more: offset={len(places)})")


def test_every_line_that_is_shown_has_its_number(served: Repository) -> None:
    reply = search(asked(served), SEARCH_MODEL(query="bake bread", detail="full", k=3, max_tokens=5_000))
    path = ""
    for line in reply.text.split("\n")[1:]:
        if head := re.match(r"\d+\. (\S+):\d+-\d+ ", line):
            path = head[1]
        elif shown := re.match(r"(\d+)  (.*)", line):
            assert (served.index.root / path).read_text().split("\n")[int(shown[1]) - 1].rstrip() == shown[2]


def test_nothing_relevant_is_noted_first_and_costs_little(served: Repository) -> None:
    reply = search(asked(served), SEARCH_MODEL(query="quantum chromodynamics lattice gauge"))
    assert reply.text.startswith("nothing relevant; the ")
    first, *others = re.split(r"^\d+\. ", reply.text, flags=re.MULTILINE)[1:]
    lengths = [len(re.findall(r"^\d+  ", each, re.MULTILINE)) for each in (first, *others)]
    assert len(lengths) <= 5 and lengths[0] <= 20 and max(lengths[1:]) <= 5
    assert reply.data.notes[0].code == "nothing-relevant"


def test_no_hits_come_with_advice(served: Repository) -> None:
    reply = search(asked(served), SEARCH_MODEL(query="/no such line anywhere/"))
    assert reply.text.startswith("no hits") and "try other words" in reply.text
    assert reply.data.hits == ()


def test_pages_follow_each_other(served: Repository) -> None:
    pages = [
        search(asked(served), SEARCH_MODEL(query="bread", detail="names", k=3, offset=at)).data.hits
        for at in (0, 3)
    ]
    assert [each.hit.rank for page in pages for each in page] == [1, 2, 3, 4, 5, 6]
    assert len({each.hit.symbol.id for page in pages for each in page}) == 6


def test_a_page_begins_with_the_first_hit_that_did_not_fit(served: Repository) -> None:
    ranks, offset = list[int](), 0
    while len(ranks) < 12:
        given = SEARCH_MODEL(query="bread", max_tokens=400, offset=offset)
        text = search(asked(served), given).text
        ranks += map(int, re.findall(r"^(\d+)\. ", text, re.MULTILINE))
        offset = int(text.rpartition("(more: offset=")[2].rstrip(")"))
        assert offset == len(ranks)
    assert ranks == list(range(1, len(ranks) + 1))


def test_filters_hold(served: Repository) -> None:
    given = SEARCH_MODEL(query="bread", lang="python", exclude=["tests/**"], kind="function")
    hits = search(asked(served), given).data.hits
    kinds = {(each.hit.symbol.language, each.hit.symbol.kind) for each in hits}
    assert hits and kinds == {("python", "function")}
    assert not any(each.hit.symbol.path.startswith("tests/") for each in hits)


def test_a_class_comes_with_its_members_and_in_full_with_their_source(shop: Path) -> None:
    repository = Repositories({"refresh": "never"}).open([shop])[0]
    repository.index.update()
    own = symbol(asked(repository), SymbolArguments(symbol="Cart")).text
    assert "members (2):" in own and "7-9 method add(self, item: str, count: int = 1) -> None" in own
    assert "self.items.get" not in own
    full = symbol(asked(repository), SymbolArguments(symbol="Cart", detail="full"))
    assert "9          self.items[item] = self.items.get(item, 0) + count" in full.text
    assert "self.items.get" in full.data.source
    names = symbol(asked(repository), SymbolArguments(symbol="Cart.add", detail="names")).text
    assert "Put something into the cart." in names and "self.items" not in names
    cut = symbol(asked(repository), SymbolArguments(symbol="long_story", max_tokens=300)).text
    assert re.search(r"\(\d+ of 64 lines: raise max_tokens\)", cut)


def test_several_repositories_are_merged(two: Repositories, tmp_path: Path) -> None:
    both = two.open([tmp_path / "a" / "inn", tmp_path / "b" / "inn"])
    assert [each.name for each in both] == ["inn", "inn-2"]
    reply = search(asked(*both), SEARCH_MODEL(query="sweep"))
    assert {each.index for each in reply.data.hits} == {"inn", "inn-2"}
    assert "1. inn inn.py:1-2 function sweep" in reply.text and "inn-2 inn.py:1-2" in reply.text
    with (
        pytest.raises(DowseError, match="several repositories; name one of them with `repo`"),
        open_symbol(asked(*both), "sweep"),
    ):
        pass
    with open_symbol(asked(*both), "only_b") as (repository, _):
        assert repository.name == "inn-2"


def test_names_that_are_not_plain_lead_to_what_is_meant(served: Repository) -> None:
    row = next(row for row in served.index.symbols() if row.kind == "function")
    place = f"{row.path}:{row.start_line}"
    for target in (place, f"./{place}", f"{place}-{row.end_line}", f"{served.index.root}/{place}"):
        with open_symbol(asked(served), target) as (_, found):
            assert found.row.key == row.key, target


def test_errors_about_names_list_candidates(served: Repository, tmp_path: Path) -> None:
    with (
        pytest.raises(UnknownName, match=r"name one of the nearest:\n<data-\w+>\n  \S+:\d+  "),
        open_symbol(asked(served), "bake_the_bread_please"),
    ):
        pass
    root = write_tree(tmp_path / "twins", {f"{name}.py": "def twin():\n    pass\n" for name in "ab"})
    twins = Repositories({"refresh": "never"}).open([root])[0]
    twins.index.update()
    with (
        pytest.raises(UnknownName, match=r"name one by its path:line\n<data-\w+>\n  a.py:1  .*\n  b.py:1  "),
        open_symbol(asked(twins), "twin"),
    ):
        pass


@pytest.mark.parametrize(
    "target",
    [
        "../secret.py:1",
        "src/../../secret.py:1",
        "/etc/passwd:1",
        "{root}/../secret.py:1",
        "{link}/secret.py:1",
    ],
)
def test_paths_outside_the_roots_are_rejected(target: str, tmp_path: Path) -> None:
    root = write_tree(tmp_path / "repo", {"src/app.py": "def app():\n    pass\n"})
    write_tree(tmp_path, {"secret.py": "def secret():\n    pass\n"})
    (root / "link").symlink_to(tmp_path)
    (root / "linked.py").symlink_to(tmp_path / "secret.py")
    repository = Repositories({"refresh": "never"}).open([root])[0]
    repository.index.update()
    named = target.format(root=root, link=root / "link")
    with pytest.raises(OutsideRoots), open_symbol(asked(repository), named):
        pass
    assert not search(asked(repository), SEARCH_MODEL(query="/secret/")).data.hits


def test_related_without_a_vector_says_when_to_retry(shop: Path) -> None:
    repository = Repositories({"refresh": "never", "encoder": "small"}).open([shop])[0]
    repository.index.update(embed=False)
    with pytest.raises(DowseError, match=r"no vector yet.*call again"):
        related(asked(repository), RelatedArguments(symbol="checkout"))
    reply = search(asked(repository), SEARCH_MODEL(query="pay for it"))
    assert "by meaning 0 % so far" in reply.text


def test_repositories_that_know_the_name_come_first(tmp_path: Path) -> None:
    one = write_tree(tmp_path / "one", {"app.py": "def sweep_floor():\n    '''About tidy_up.'''\n"})
    other = write_tree(tmp_path / "other", {"app.py": "def tidy_up():\n    return 'sweep'\n"})
    both = Repositories({"refresh": "never"}).open([one, other])
    for repository in both:
        repository.index.update()
    assert search(asked(*both), SEARCH_MODEL(query="tidy_up")).data.hits[0].hit.symbol.name == "tidy_up"


def test_nothing_relevant_in_one_repository_is_not_nothing_relevant(
    served: Repository, tmp_path: Path
) -> None:
    root = write_tree(
        tmp_path / "physics", {"lattice.py": "def lattice_gauge():\n    return 'chromodynamics'\n"}
    )
    physics = Repositories({"refresh": "never"}).open([root])[0]
    physics.index.update()
    reply = search(asked(served, physics), SEARCH_MODEL(query="quantum chromodynamics lattice gauge"))
    assert reply.text.startswith("hits in ")
    assert any(each.hit.symbol.name == "lattice_gauge" for each in reply.data.hits)


def test_a_name_is_shown_with_its_lines_and_its_owner(tmp_path: Path) -> None:
    text = (
        "LIMIT = 20\n\n\nclass Cart:\n    currency = 'EUR'\n\n    def is_full(self):\n        return LIMIT\n"
    )
    write_tree(tmp_path / "shop", {"cart.py": text})
    repositories = Repositories({"refresh": "never", "encoder": "none"})
    (shop,) = repositories.open([tmp_path / "shop"])
    shop.index.update()
    shown = symbol(asked(shop), SymbolArguments(symbol="Cart.currency")).text
    assert "cart.py:5-5 field Cart.currency" in shown and "in class Cart" in shown
    assert "5      currency = 'EUR'" in shown and "4  class Cart:" in shown
    # A line of a class shows the class, but the graph knows the name there.
    assert "class Cart\n" in symbol(asked(shop), SymbolArguments(symbol="cart.py:5")).text
    walked = calls(asked(shop), CallsArguments(symbol="cart.py:1")).text
    assert "uses of constant LIMIT (cart.py:1)" in walked and "cart.py:8" in walked
