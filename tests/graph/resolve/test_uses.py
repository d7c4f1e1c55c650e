"""Uses that are no calls: reads and writes of constants, fields and properties, types inside others."""

from __future__ import annotations

import pytest

from dowse.graph.keys import dependency_id, key_of_names, scope_key
from graph.resolve.world import World, world

PYTHON = {
    "conf.py": (
        "LIMIT = 3\n\n\nclass Base:\n    size: int = 1\n\n"
        "    def __init__(self):\n        self.items = []\n\n"
        "    @property\n    def cookies(self):\n        return parse_cookies(self.items)\n\n\n"
        "def parse_cookies(text):\n    return text[:LIMIT]\n"
    ),
    "use.py": (
        "import conf\nfrom conf import LIMIT, Base\n\n\nclass Child(Base):\n    def show(self):\n"
        "        self.size += 1\n        return self.items\n\n\n"
        "def main(bases: list[Base], other, LIMIT_OF=conf.LIMIT):\n    child = Child()\n"
        "    if child.cookies or other.cookies:\n        return LIMIT\n    other.size\n\n\n"
        "def local():\n    LIMIT = 4\n    return LIMIT\n"
    ),
}


def uses(made: World, kinds: tuple[str, ...] = ("reads", "writes", "imports")) -> set[str]:
    """The uses, as "line source kind target", with the confidence unless it is resolved."""
    return {
        f"{line} {source.partition(':')[2]} {kind} {target.partition(':')[2]}"
        + ("" if confidence == "resolved" else f" ({confidence})")
        for kind, source, target, line, _, confidence, _ in made.named_edges()
        if kind in kinds
    }


def test_python(tmp_path):
    with world(tmp_path, PYTHON) as made:
        assert uses(made) == {
            "12 Base.cookies reads Base.items",
            "16 parse_cookies reads LIMIT",
            "1 use imports conf",
            "2 use imports LIMIT",
            "2 use imports Base",
            "7 Child.show writes Base.size",
            "8 Child.show reads Base.items",
            "11 main reads Base",
            "11 main reads LIMIT",
            "13 main reads Base.cookies",
            "13 main reads Base.cookies (ambiguous)",  # of a parameter without a type
            "14 main reads LIMIT",
            "15 main reads Base.size (ambiguous)",
        }


def test_keywords_are_fields_unless_a_constructor_takes_them(tmp_path):
    files = {
        "a.py": "@dataclass\nclass Item:\n    price: int\n\n\nclass Shop:\n    city = ''\n\n"
        "    def __init__(self, city): ...\n\n\ndef use():\n    return Item(price=1), Shop(city=2)\n"
    }
    with world(tmp_path, files) as made:
        assert uses(made, ("reads", "writes")) == {"13 use writes Item.price"}


# The files of a language, and the uses in the function `use`.
LANGUAGES = {
    "go": (
        {
            "go.mod": "module shop\n",
            "cart/cart.go": "package cart\n\nconst Limit = 3\n\ntype Item struct {\n\tPrice int\n}\n",
            "cart/use.go": "package cart\n\nfunc use(items []Item, Price int) int {\n"
            "\titems[0].Price = Limit\n\tit := Item{Price: 2}\n\treturn it.Price + Price\n}\n",
            "main.go": 'package main\n\nimport "shop/cart"\n\nfunc use() map[string]cart.Item {\n'
            "\treturn f(cart.Limit)\n}\n",
        },
        "3 use reads Item|4 use writes Item.Price|4 use reads Limit|5 use writes Item.Price"
        "|6 use reads Item.Price|5 use reads Item|6 use reads Limit",
    ),
    "typescript": (
        {
            "item.ts": "export const LIMIT = 3;\nexport interface Item {\n  price: number;\n}\n"
            "export class Shop {\n  items: Item[] = [];\n  get total() {\n    return LIMIT;\n  }\n}\n",
            "use.ts": 'import { LIMIT, Item, Shop } from "./item";\n\n'
            "export function use(shop: Shop, x: unknown): Promise<Item[]> {\n"
            "  const all = x as Item[];\n  shop.items = all;\n  return wait(shop.total + LIMIT);\n}\n",
        },
        "3 use reads Item|4 use reads Item|5 use writes Shop.items|6 use reads Shop.total|6 use reads LIMIT",
    ),
    "csharp": (
        {
            "GlobalUsings.cs": "global using Shop.Data;\n",
            "Data/Item.cs": "namespace Shop.Data;\npublic enum Color { Red }\npublic class KeptAttribute {}\n"
            "public class Kept {}\npublic class Item {\n  public Color Color { get; set; }\n"
            "  public int Price { get; set; }\n}\npublic class Base {\n  protected int size;\n}\n",
            "Use.cs": "using static Shop.Data.Color;\nnamespace Other;\nclass Use : Base {\n"
            "  Color Color { get; set; }\n  void local(int size) { Run(size); }\n"
            "  [Kept]\n  Color use(Store store, Item it) {\n    var found = store.Find(1).First();\n"
            "    Item made = new() { Price = size };\n"
            "    foreach (var each in store.All()) Run(each.Price);\n"
            "    if (it is Item { Price: 3 }) Run(found.Price);\n    return Red;\n  }\n}\n",
        },
        "6 Use.use uses KeptAttribute|7 Use.use reads Color|7 Use.use uses Item"
        "|9 Use.use writes Item.Price|9 Use.use reads Base.size|10 Use.use reads Item.Price (ambiguous)"
        "|11 Use.use writes Item.Price|11 Use.use reads Item|11 Use.use reads Item.Price (ambiguous)"
        "|12 Use.use reads Color.Red",
    ),
    "c": (
        {
            "cart.h": "#define LIMIT 3\nenum color { RED, BLUE };\n"
            "struct item { int price; };\nextern int total;\n",
            "cart.c": '#include "cart.h"\nint total = 0;\n\nint use(struct item *it, int price) {\n'
            "  it->price = LIMIT + price;\n  total++;\n  return RED;\n}\n",
        },
        "5 use writes item.price|5 use reads LIMIT|6 use writes total|7 use reads color.RED",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_other_languages(tmp_path, language):
    files, expected = LANGUAGES[language]
    with world(tmp_path, files) as made:
        kinds = ("reads", "writes", "uses") if language == "csharp" else ("reads", "writes")
        found = {use for use in uses(made, kinds) if " use " in use or ".use " in use}
        assert found == set(expected.split("|"))


C_CASES = {
    "a typedef is used, and the struct behind it has the fields": (
        {
            "cart.h": "typedef struct item_s item_t;\nstruct item_s { int price; };\n",
            "cart.c": "int use(item_t *it, item_t all[]) {\n  return it->price\n    + all[1].price;\n}\n",
        },
        [
            "1 cart.h:cart reads cart.h:item_s",
            "1 cart.c:use uses cart.h:item_t",
            "2 cart.c:use reads cart.h:item_s.price",
            "3 cart.c:use reads cart.h:item_s.price",
        ],
    ),
    "a local array hides a variable of another file": (
        {"a.c": "char slab[3];\n", "b.c": "int use(void) {\n  char slab[2];\n  return slab[0];\n}\n"},
        [],
    ),
    "variables of a body after a macro are local to it": (
        {
            "a.c": "struct item { int price; };\nint total;\n",
            "b.c": "TEST_IMPL(one) {\n  int total;\n  struct item it;\n  it.price = total;\n}\n",
        },
        ["3 b.c:b uses a.c:item", "4 b.c:b writes a.c:item.price"],
    ),
    "a macro hides neither a struct nor its own uses": (
        {
            "a.h": "#define LIB_API extern\n#define LIB_FIELDS \\\n  /* public */ \\\n  void *data;\n\n"
            "struct item {\n  LIB_FIELDS\n  int price;\n};\nLIB_API int f(int x);\n",
            "b.c": "void use(struct item *it) {\n  it->data = 0;\n  it->price = 0;\n}\n",
        },
        [
            "7 a.h:item reads a.h:LIB_FIELDS",
            "10 a.h:a reads a.h:LIB_API",
            "1 b.c:use uses a.h:item",
            "2 b.c:use writes a.h:LIB_FIELDS.data (ambiguous)",
            "3 b.c:use writes a.h:item.price",
        ],
    ),
    "a variable has the name of a struct elsewhere": (
        {
            "a.c": "struct ctx { int size; };\n",
            "b.c": "static int ctx;\nint use(void) {\n  return ctx;\n}\n",
        },
        ["3 b.c:use reads b.c:ctx"],
    ),
    "a struct from outside has the name of a variable": (
        {
            "a.c": "struct stats { int swap; };\n"
            "void use(struct stats *usage) {\n  struct usage found;\n  usage->swap = found.swap;\n}\n",
        },
        ["2 a.c:use uses a.c:stats", "4 a.c:use writes a.c:stats.swap"],
    ),
    "a type is a struct on one platform and a typedef on another": (
        {
            "unix.h": "typedef int key_t;\n",
            "win.h": "typedef struct { int index; } key_t;\n",
            "cart.c": '#ifdef _WIN32\n#include "win.h"\n#else\n#include "unix.h"\n#endif\n'
            "void use(key_t key) {\n}\n",
        },
        [
            "4 cart.c:cart imports unix.h:unix",
            "6 cart.c:use uses unix.h:key_t (ambiguous)",
            "6 cart.c:use uses win.h:key_t (ambiguous)",
        ],
    ),
}


RUST_CASES = {
    "a variant that is constructed is itself meant, not its enum": (
        {"src/lib.rs": "enum Kind {\n    Left(u8),\n}\nfn f() {\n    let x = Kind::Left(1);\n}\n"},
        ["5 src/lib.rs:f reads src/lib.rs:Kind", "5 src/lib.rs:f reads src/lib.rs:Kind.Left"],
    ),
    "keys of a literal in the arguments of a macro": (
        {
            "src/lib.rs": "struct Point {\n    left: u8,\n}\nfn f(left: u8) {\n"
            "    check!(x, Point { left: 1 });\n    check!(y, { left: 2 });\n}\n",
        },
        ["5 src/lib.rs:f reads src/lib.rs:Point", "5 src/lib.rs:f writes src/lib.rs:Point.left"],
    ),
    "an inline module": (
        {
            "src/lib.rs": "mod inner {\n    pub struct Item;\n}\npub mod user;\nfn f(x: inner::Item) {}\n",
            "src/user.rs": "use crate::inner::Item;\nuse a::{B, C};\nfn g(x: Item) {}\n",
        },
        [
            "5 src/lib.rs:f uses src/lib.rs:inner.Item",
            "1 src/user.rs:user imports src/lib.rs:inner.Item",
            "3 src/user.rs:g uses src/lib.rs:inner.Item",
        ],
    ),
    "a module and a function of one name": (
        {
            "src/lib.rs": "pub mod serve;\npub mod user;\npub use self::serve::serve;\n",
            "src/serve.rs": "pub struct Item;\npub fn serve() {}\n",
            "src/user.rs": "use crate::serve;\nfn g(x: serve::Item) {}\n",
        },
        [
            "3 src/lib.rs:lib imports src/serve.rs:serve",
            "2 src/user.rs:g reads src/serve.rs:serve",
            "2 src/user.rs:g uses src/serve.rs:Item",
        ],
    ),
    "a trait and the macro that derives it": (
        {
            "src/lib.rs": "pub mod item;\npub use macros::Item;\npub use self::item::Item;\n"
            "fn f<T: Item>(x: T) {}\n",
            "src/item.rs": "pub trait Item {}\n",
        },
        ["3 src/lib.rs:lib imports src/item.rs:Item", "4 src/lib.rs:f uses src/item.rs:Item"],
    ),
}


@pytest.mark.parametrize("case", [*C_CASES, *RUST_CASES])
def test_c_and_rust(tmp_path, case):
    files, expected = (C_CASES | RUST_CASES)[case]
    with world(tmp_path, files) as made:
        found = {
            f"{line} {source} {kind} {target}"
            + ("" if confidence in ("resolved", "unique") else f" ({confidence})")
            for kind, source, target, line, _, confidence, _ in made.named_edges()
        }
        assert found == set(expected)


def test_calls_never_see_names(tmp_path):
    files = {
        "a.py": "parse = make()\n\n\nclass A:\n    run = 3\n",
        "b.py": "from a import A, parse\n\n\ndef use(x):\n    parse()\n    A().run()\n    x.run()\n",
    }
    with world(tmp_path, files) as made:
        assert uses(made, ("calls",)) == {"6 use calls A"}
        assert "5 use reads parse" in uses(made)
        assert "6 use reads A.run" in uses(made)


def test_the_keys_of_names_are_dependencies_of_symbols_of_that_name():
    key = scope_key("python", "a.py", "LIMIT")
    assert key_of_names(key) != key
    assert key_of_names(key_of_names(key)) == key
    assert dependency_id(key_of_names(key)) == dependency_id(key)


CHANGES = {
    "a name moves": ("conf.py", "SIZE = 1\n" + PYTHON["conf.py"]),
    "a name goes": ("conf.py", PYTHON["conf.py"].replace("LIMIT = 3\n", "")),
    "a field goes": ("conf.py", PYTHON["conf.py"].replace("    size: int = 1\n", "")),
    "a name becomes a function": ("conf.py", PYTHON["conf.py"].replace("LIMIT = 3", "def LIMIT(): ...")),
    "a property becomes a field": (
        "conf.py",
        PYTHON["conf.py"].replace("@property\n    def cookies(self):\n        return", "cookies ="),
    ),
    "another file defines a field of that name": ("more.py", "class More:\n    size = 2\n    cookies = 3\n"),
    "the file goes": ("conf.py", ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_linking_what_changed_gives_the_graph_of_a_rebuild(tmp_path, change):
    path, text = CHANGES[change]
    for folder in ("changed", "rebuilt"):
        (tmp_path / folder).mkdir()
    with world(tmp_path / "changed", PYTHON) as made:
        before = made.by_key()
        if text:
            made.put(path, text)
        else:
            made.delete(path)
        made.link()
        after, into = made.by_key(), made.by_key(incoming=True)
        assert after == into
    files = {**PYTHON, path: text}
    with world(tmp_path / "rebuilt", {each: files[each] for each in files if files[each]}) as made:
        assert made.by_key() == after
    assert (before != after) or change == "a name moves"


TYPESCRIPT = {
    "jsx.ts": "/** Elements of pages. */\nexport namespace JSX {\n"
    "  export interface Shared {\n    title?: string;\n  }\n"
    "  interface Link extends Shared {\n    href?: string;\n  }\n"
    "  export interface IntrinsicElements {\n    a: Link;\n  }\n}\n",
    "data.ts": "export const sizes = [1, 2] as const;\nconst rows = [{ label: 1 }];\nexport default rows;\n"
    "export interface Page {\n  info: number;\n}\n",
    "page.tsx": 'import { sizes } from "./data";\nimport { label as other } from "outside";\n'
    "function use(page, label) {\n  const { info: rest } = page;\n"
    '  return <a title={label} href="x">{sizes}</a>;\n}\n'
    "use.displayName = rest;\n",
}


def test_jsx_namespaces_patterns_and_default_exports(tmp_path):
    with world(tmp_path, TYPESCRIPT) as made:
        assert uses(made, ("reads", "writes", "imports", "extends")) == {
            "6 JSX.Link extends JSX.Shared",
            "3 data reads rows",
            "1 page imports sizes",
            "4 use reads Page.info (ambiguous)",
            "5 use reads JSX.IntrinsicElements.a (ambiguous)",
            "5 use reads JSX.Shared.title (ambiguous)",
            "5 use reads JSX.Link.href (ambiguous)",
            "5 use reads sizes",
            "7 page reads use",
        }


def test_attributes_of_elements_from_outside_mean_nothing_here(tmp_path):
    files = {**TYPESCRIPT, "jsx.ts": "export interface Book {\n  title: string;\n}\n"}
    with world(tmp_path, files) as made:
        assert not [use for use in uses(made) if "title" in use]


def test_private_names_start_at_the_hash(tmp_path):
    files = {"a.ts": "class A {\n  #size = 1;\n  get() {\n    return this.#size;\n  }\n}\n"}
    with world(tmp_path, files) as made:
        assert [(edge[2], edge[3], edge[4]) for edge in made.named_edges("reads")] == [
            ("a.ts:A.#size", 4, 16)
        ]
