"""A small tree with questions about it, for tests that run whole evaluations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.git_repo import GitRepo

from helpers import json_lines, write_tree

FILES = {
    "shop/orders.py": '''"""Orders as customers write them."""


def parse_order(text):
    """Read an order from one line of text, such as two loaves for Ada."""
    count, _, rest = text.partition(" ")
    return {"count": int(count), "what": rest}


def retry_with_backoff(action, attempts=3):
    """Call an action again and again until it works, waiting longer each time."""
    for attempt in range(attempts):
        try:
            return action()
        except OSError:
            wait(2**attempt)
    raise OSError(attempts)


def wait(seconds):
    return seconds
''',
    "shop/oven.py": '''class Oven:
    """Heats bread, and knows how hot it is."""

    def __init__(self):
        self.degrees = 20

    def preheat(self, degrees):
        """Raise the temperature before any bread goes in."""
        self.degrees = degrees
        return self

    def is_cold(self):
        """Tell whether nobody has heated it yet."""
        return self.degrees < 50
''',
    "shop/money.py": '''def total_price(items, rate):
    """Sum the prices of all items and add the tax on top."""
    net = sum(item.price for item in items)
    return net + net * rate


def format_amount(cents):
    """Write an amount of money with its currency sign for the receipt."""
    return f"{cents / 100:.2f} EUR"
''',
    "web/cart.js": """/** Take the cookie header of a request apart into names and values. */
function parseCookieHeader(header) {
  const pairs = header.split(";");
  return Object.fromEntries(pairs.map((pair) => pair.trim().split("=")));
}

function addToCart(cart, item) {
  cart.items.push(item);
  return cart;
}
""",
}
# Question, file, symbol.
QUESTIONS = (
    ("where is an order read from text", "shop/orders.py", "parse_order"),
    ("call again until it works", "shop/orders.py", "retry_with_backoff"),
    ("raise the temperature before baking", "shop/oven.py", "Oven.preheat"),
    ("is the oven cold", "shop/oven.py", "Oven.is_cold"),
    ("sum of prices with tax", "shop/money.py", "total_price"),
    ("currency sign on the receipt", "shop/money.py", "format_amount"),
    ("split cookies into names and values", "web/cart.js", "parseCookieHeader"),
    ("put an item into the cart", "web/cart.js", "addToCart"),
)


@pytest.fixture
def tree_copy(tmp_path: Path) -> Path:
    """The small tree to change."""
    return make_tree(tmp_path / "tree")


def make_tree(root: Path) -> Path:
    """Write the tree without a history."""
    return write_tree(root, FILES)


def rows(count: int = len(QUESTIONS)) -> list[dict[str, object]]:
    """Return the questions as lines of a file of cases."""
    return [
        {
            "query": query,
            "relevant_files": [path],
            "relevant_symbols": [f"{path}::{name}"],
            "id": f"q{i}",
            "source": "hand",
        }
        for i, (query, path, name) in enumerate(QUESTIONS[:count])
    ]


def write_questions(path: Path, count: int = len(QUESTIONS)) -> Path:
    """Write the questions to a file."""
    return json_lines(path, rows(count))


def make_history(root: Path) -> GitRepo:
    """Make a repository of the tree, in which each function came with a commit that tells of it."""
    repo = GitRepo(root)
    parts = {path: text.split("\n\n\n") for path, text in FILES.items()}
    repo.commit("Begin", {path: split[0] + "\n" for path, split in parts.items()})
    repo.commit("Retry an action with growing pauses", {"shop/orders.py": FILES["shop/orders.py"]})
    repo.commit("Write amounts of money for receipts", {"shop/money.py": FILES["shop/money.py"]})
    oven = FILES["shop/oven.py"]
    repo.commit("Ovens are cold below sixty degrees", {"shop/oven.py": oven.replace("50", "60")})
    text = FILES["web/cart.js"].replace("cart.items.push(item)", "cart.items.push({ ...item })")
    repo.commit("Copy items before they go into the cart", {"web/cart.js": text})
    return repo


def make_corpus(folder: Path) -> Path:
    """Write a folder of BEIR with two files of queries."""
    functions = [
        ("d1", "parse_order", "def parse_order(text):\n    return text.split()\n"),
        ("d2", "total_price", "def total_price(items):\n    return sum(items)\n"),
        ("d3", "preheat", "def preheat(oven):\n    oven.degrees = 200\n"),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    json_lines(folder / "corpus.jsonl", [{"_id": i, "title": n, "text": t} for i, n, t in functions])
    asked = {"1": "split an order", "2": "total of prices", "3": "degrees of the oven"}
    json_lines(folder / "queries.jsonl", [{"_id": i, "text": text} for i, text in asked.items()])
    json_lines(folder / "queries-short.jsonl", [{"_id": "1", "text": "order"}])
    lines = ["query-id\tcorpus-id\tscore", *(f"{i}\td{i}\t1" for i in asked)]
    write_tree(folder, {"qrels/test.tsv": "\n".join(lines) + "\n"})
    return folder


def make_suite(folder: Path, checkouts: Path) -> Path:
    """Write a suite in the form of `repos`, and the checkouts of its two repositories."""
    names = ("one", "two")
    for name in names:
        write_tree(checkouts / name / "src", FILES)
    repos = [{"name": name, "url": f"https://example.org/{name}", "benchmark_root": "src"} for name in names]
    (folder / "cases").mkdir(parents=True)
    (folder / "repos.json").write_text(json.dumps(repos))
    for name in names:
        asked = [{"query": query, "relevant": [f"src/{path}"]} for query, path, _ in QUESTIONS[:4]]
        json_lines(folder / "cases" / f"{name}.jsonl", asked)
    return folder
