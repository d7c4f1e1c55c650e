"""Names that are no symbols: constants, fields, enum members, aliases, macros, in every language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.parsing.languages import detect_language
from dowse.parsing.limits import MAX_NAMES
from dowse.parsing.parser import parse_file
from dowse.types import Name, ParsedFile

# File name, source, and the names in it: "kind qualified.name line".
SOURCES = [
    (
        "limits.py",
        """
LIMIT = 3
first, second = 1, 2
try:
    import fast_json as json
except ImportError:
    json = None
if LIMIT:
    verbose: bool = False
class Server:
    port = 80
    def __init__(self, host):
        self.host = host
        self.host = host.strip()
        copy = host
""",
        """constant LIMIT 2, variable first 3, variable second 3, alias json 5, variable json 7,
        variable verbose 9, field Server.port 11, field Server.host 13""",
    ),
    (
        "codes.go",
        """package codes
import log "log/slog"
const (
	OK = iota
	NotFound
	Gone
)
var errFirst, errSecond error
type User struct {
	Base
	Name, mail string `json:"n" db:"user_name"`
}
func run() { var local int; _ = local }
var handler = func() { var inner int; _ = inner }
const low, high = 1, 9
""",
        """namespace codes 1, alias log 2, constant NotFound 5, constant Gone 6, variable errFirst 8,
        variable errSecond 8, field User.Base 10, field User.Name 11, field User.mail 11, column
        User.user_name 11, variable handler 14, constant low 15, constant high 15""",
    ),
    (
        "ring.h",
        """#define RING_SIZE 8
typedef struct ring { int head, *tail[2]; void (*free_cb)(int); } ring_t;
typedef int (*compare_fn)(const void *);
enum { EMPTY, FULL };
extern int ring_count;
static const char *ring_names[] = { "a" };
char *ring_name(int index);
int size(void) { int local = 1; return local; }
""",
        """macro RING_SIZE 1, struct ring 2, field ring_t.head 2, field ring_t.tail 2, field
        ring_t.free_cb 2, alias compare_fn 3, enumerator EMPTY 4, enumerator FULL 4, variable ring_count
        5, variable ring_names 6, prototype ring_name 7""",
    ),
    (
        "shape.cpp",
        """namespace geo {
constexpr int kSides = 4;
enum class Color { Red, BLUE
};
class Shape {
 public:
  virtual double area() const = 0;
  int &ref_;
  static int count;
  bool operator==(const Shape&) const;
};
}
int geo::Shape::count = 0;
""",
        """namespace geo 1, variable geo.kSides 2, enumerator geo.Color.Red 3, enumerator geo.Color.BLUE
        3, prototype geo.Shape.area 7, field geo.Shape.ref_ 8, field geo.Shape.count 9, prototype
        geo.Shape.operator== 10, variable geo.Shape.count 13""",
    ),
    (
        "store.ts",
        """export const VERSION = "1", { host, port: listenPort } = options();
interface Options { timeout?: number; }
type Point = { x: number };
enum Level { Debug, Info = 2 }
class Store {
  private items = new Map();
  constructor(readonly name: string, limit: number) { this.size = limit; this.items = null; }
}
namespace Inner { export let depth = 1; }
export const { endpoints: { getPosts } } = api;
describe("x", ({ page }) => { const local = 1; });
""",
        """constant VERSION 1, variable host 1, variable listenPort 1, property Options.timeout 2,
        property Point.x 3, enumerator Level.Debug 4, enumerator Level.Info 4, field Store.items 6,
        field Store.name 7, field Store.size 7, namespace Inner 9, variable Inner.depth 9, variable
        getPosts 10""",
    ),
    (
        "app.js",
        """var app = {
  port: 80,
  db: { user: "x" },
};
exports.limits = {};
module.exports.MAX = 5;
const { join } = require("path");
class Queue { #items = []; static max = 3; }
function Timer() { this.started = 0; var local; }
on("end", function onEnd() { var inner = 1; });
""",
        """property app.port 2, property app.db 3, property app.user 3, property MAX 6, field
        Queue.#items 8, field Queue.max 8, field Timer.started 9, function onEnd 10""",
    ),
    (
        "Job.java",
        """package org.jobs;
class Job {
  static final int MAX = 3, MIN = 1;
  private String name;
  enum State { NEW, DONE { void f() { int local; } } }
  record Range(int from, int to) {}
  @interface Retry { int times() default 1; }
  interface Codes { int OK = 0; }
}
""",
        """namespace org.jobs 1, constant Job.MAX 3, constant Job.MIN 3, field Job.name 4, enumerator
        Job.State.NEW 5, enumerator Job.State.DONE 5, field Job.Range.from 6, field Job.Range.to 6,
        property Job.Retry.times 7, constant Job.Codes.OK 8""",
    ),
    (
        "cart.php",
        """<?php
namespace Shop\\Cart;
use Psr\\Log as Logging;
const TAX = 19;
define("CURRENCY", "EUR");
class Cart {
  const MAX = 9;
  protected ?int $total = null;
  public function __construct(private Store $store, $plain) { $this->cache = []; $local = 1; }
}
enum Suit: string { case Hearts = "h"; }
$config = [];
""",
        """namespace Shop.Cart 2, alias Logging 3, constant TAX 4, constant CURRENCY 5, constant
        Cart.MAX 7, field Cart.total 8, field Cart.store 9, field Cart.cache 9, enumerator Suit.Hearts
        11, variable config 12""",
    ),
    (
        "user.rb",
        """VERSION = "1"
class User
  ROLES = %i[a b]
  attr_accessor :name, :mail
  alias full_name name
  alias_method :admin?, :root?
  define_method(:greet) { }
  set :port, 80
  def initialize
    @age = 1
    @age = 2
    local = 3
  end
end
""",
        """constant VERSION 1, constant User.ROLES 3, property User.name 4, property User.mail 4, alias
        User.full_name 5, alias User.admin? 6, method User.greet 7, key User.port 8, field User.age 10""",
    ),
    (
        "lib.rs",
        """pub const MAX: usize = 1;
static mut COUNT: u32 = 0;
struct Node { left: u8, pub right: u8 }
enum Tree { Leaf, Branch { size: u8 } }
trait Shape { const SIDES: u8; type Output; }
impl Shape for Node { const SIDES: u8 = 4; type Output = u8; }
mod inner { const DEPTH: u8 = 1; }
use std::fmt as format;
fn run() { const LOCAL: u8 = 1; }
""",
        """constant MAX 1, constant COUNT 2, field Node.left 3, field Node.right 3, enumerator Tree.Leaf
        4, enumerator Tree.Branch 4, field Tree.size 4, constant Shape.SIDES 5, alias Shape.Output 5,
        constant Node.SIDES 6, alias Node.Output 6, namespace inner 7, constant inner.DEPTH 7, alias
        format 8""",
    ),
    (
        "Order.cs",
        """namespace Shop.Orders {
using Map = System.Collections.Hashtable;
public class Order(int id) {
  const int Max = 3;
  private string name, note;
  public decimal Total { get; set; }
  public event Handler Changed;
  enum State { Open, Closed = 2 }
}
public record Line(string Sku, int Count);
}
""",
        """namespace Shop.Orders 1, alias Map 2, field Order.id 3, field Order.Max 4, field Order.name
        5, field Order.note 5, property Order.Total 6, field Order.Changed 7, enumerator
        Order.State.Open 8, enumerator Order.State.Closed 8, property Line.Sku 10, property Line.Count
        10""",
    ),
    (
        "Shop.kt",
        """package shop
import a.b.Long as Wide
const val LIMIT = 1
class Shop(val owner: String, plain: Int) {
  var open = true
  init {
    val local = 1
  }
  val size: Int
    get() {
      val inner = 1
      return inner
    }
}
enum class Day { MON, TUE }
val (left, right) = pair()
""",
        """namespace shop 1, alias Wide 2, constant LIMIT 3, field Shop.owner 4, field Shop.open 5,
        field Shop.size 9, enumerator Day.MON 15, enumerator Day.TUE 15, variable left 16, variable
        right 16""",
    ),
    (
        "Shop.scala",
        """package shop
object Shop {
  val limit = 1
  var open: Boolean = true
  type Id = Int
  val size = { val inner = 1; inner }
}
case class Item(sku: String, count: Int)
enum Color { case Red, Green }
trait Named { val name: String }
""",
        """namespace shop 1, field Shop.limit 3, field Shop.open 4, alias Shop.Id 5, field Shop.size 6,
        field Item.sku 8, field Item.count 8, enumerator Color.Red 9, enumerator Color.Green 9, field
        Named.name 10""",
    ),
    (
        "Shop.swift",
        """let limit = 1
class Shop {
  static let shared = Shop()
  var size: Int { let inner = 1; return inner }
  func run() { let local = 1 }
}
enum Color { case red, green(Int) }
protocol Named { var name: String { get }
  associatedtype Id }
extension Shop { static let extra = 1 }
""",
        """variable limit 1, field Shop.shared 3, field Shop.size 4, enumerator Color.red 7, enumerator
        Color.green 7, property Named.name 8, alias Named.Id 9, variable Shop.extra 10""",
    ),
    (
        "shop.ex",
        """defmodule Shop do
  @limit 3
  @type id :: integer
  @callback open(id) :: boolean
  defstruct [:name, size: 1]
  def run, do: @limit
end
""",
        """constant Shop.limit 2, alias Shop.id 3, prototype Shop.open 4, field Shop.name 5, field
        Shop.size 5""",
    ),
    (
        "Shop.hs",
        """module Shop.Core where
data Shape = Circle Int | Square { side, area :: Int }
newtype Id = Id { unId :: Int }
run = 1 where local = 2
""",
        """namespace Shop.Core 1, enumerator Shape.Circle 2, enumerator Shape.Square 2, field Shape.side
        2, field Shape.area 2, enumerator Id.Id 3, field Id.unId 3""",
    ),
    (
        "shop.lua",
        """local limit = 1
local M = {}
M.version = 2
M.options = { color = 1 }
function M.new() local inner = 1; self.size = 2 end
""",
        """variable limit 1, variable M 2, field M.version 3, field M.options 4, property color 4, field
        M.size 5""",
    ),
    (
        "deploy.sh",
        """LIMIT=1
export TARGET=x
if true; then name=y; fi
run() { local inner=1; }
""",
        """constant LIMIT 1, constant TARGET 2, variable name 3""",
    ),
    (
        "shop.zig",
        """const std = @import("std");
pub var open = true;
const Item = struct { sku: u32, const max = 1; };
const Failure = error { Closed, Empty };
fn run() void { const local = 1; }
""",
        """constant std 1, variable open 2, field Item.sku 3, constant Item.max 3, enumerator
        Failure.Closed 4, enumerator Failure.Empty 4""",
    ),
]


def parse(path: str, source: str, *, definitions_only: bool = True) -> ParsedFile:
    return parse_file(source.encode(), detect_language(path), path, definitions_only=definitions_only)


def described(name: Name) -> str:
    return f"{name.kind} {name.qualified_name} {name.line}"


@pytest.mark.parametrize(("path", "source", "expected"), SOURCES, ids=[path for path, _, _ in SOURCES])
@pytest.mark.parametrize("definitions_only", [True, False])
def test_names_of_a_language(path, source, expected, definitions_only):
    names = parse(path, source, definitions_only=definitions_only).names
    assert [described(name) for name in names] == " ".join(expected.split()).split(", ")


@pytest.mark.parametrize(("path", "source", "_"), SOURCES, ids=[path for path, _, _ in SOURCES])
def test_the_owner_is_the_symbol_around(path, source, _):
    parsed = parse(path, source)
    for name in parsed.names:
        if name.owner >= 0:
            owner = parsed.definitions[name.owner]
            assert owner.start_line <= name.line <= owner.end_line or owner.kind in ("struct", "class")
            container = name.qualified_name.rpartition(".")[0]
            assert container in (owner.qualified_name, owner.qualified_name.rpartition(".")[0])


LINES = {path: source.splitlines() for path, source, _ in SOURCES}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_however_the_lines_of_a_file_are_mixed(data):
    path = data.draw(st.sampled_from(sorted(LINES)))
    chosen = data.draw(st.lists(st.sampled_from(LINES[path]), max_size=25))
    parsed = parse(path, "\n".join(chosen))
    for name in parsed.names:
        assert name.name in chosen[name.line - 1]
        assert name.qualified_name.endswith(name.name)
        assert -1 <= name.owner < len(parsed.definitions)
        if name.kind not in ("field", "macro", "function", "struct", "enum", "class") and name.owner >= 0:
            assert parsed.definitions[name.owner].kind not in ("function", "method")
    assert len({(name.kind, name.qualified_name, name.line) for name in parsed.names}) == len(parsed.names)
    assert [name.line for name in parsed.names] == sorted(name.line for name in parsed.names)


def test_a_definition_is_no_name_as_well():
    parsed = parse("a.py", "TABLE = {\n    1: 2,\n    3: 4,\n}\nsmall = 1\n")
    assert [each.name for each in parsed.definitions] == ["TABLE", "a"]
    assert [name.name for name in parsed.names] == ["small"]


def test_a_declared_field_is_defined_where_it_is_declared():
    source = "class Body\n  def initialize\n    @size = 1\n  end\n  attr_reader :size\nend\n"
    assert [described(name) for name in parse("body.rb", source).names] == ["property Body.size 5"]


def test_macros_and_types_of_c_that_the_grammar_does_not_understand():
    source = (
        "struct late {\n  FIELDS(x) y z;\n};\ntypedef int (WINAPI *late_fn)(int);\n"
        "enum e {\n#define LATE 1\n  A LATE(B) C\n};\n"
    )
    known = {(name.kind, name.name, name.line) for name in parse("a.c", source).names}
    symbols = {(each.kind, each.name, each.start_line) for each in parse("a.c", source).definitions}
    assert {("macro", "LATE", 6), ("struct", "late", 1), ("alias", "late_fn", 4)} <= known | symbols


def test_macros_of_c_that_hide_declarations():
    source = (
        b"\n#define LIB_FIELDS \\\n  /* public */ \\\n  struct queue *next; \\\n  union { \\\n"
        b"    int fd; \\\n  } u;\n\n"
        b"struct item {\n  LIB_FIELDS\n  LIB_PRIVATE_FIELDS\n};\n\n"
        b"union any {\n  LIB_MAP(XX)\n};\n\n"
        b"static LIB_INLINE int price(void) {\n  return 1;\n}\n\n"
        b"LIB_TYPE\ntotal(void) {\n  return LIB_A |\n    LIB_B\n  ;\n}\n"
        b"enum color {\n  LIB_RED\n};\nenum more {\n  A, /* first */\n  LIB_B\n};\n"
    )
    parsed = parse_file(source, "c", "a.c")
    symbols = [each.qualified_name for each in parsed.definitions if each.kind != "module"]
    assert symbols == ["item", "any", "price", "total", "color", "more"]
    names = {each.qualified_name for each in parsed.names}
    fields = {f"LIB_FIELDS.{field}" for field in ("next", "fd", "u")}
    assert names == {"LIB_FIELDS", "color.LIB_RED", "more.A", "more.LIB_B", *fields}
    read = {each.name for each in parsed.references if each.kind == "read"}
    assert read >= {"LIB_FIELDS", "LIB_PRIVATE_FIELDS", "LIB_MAP", "LIB_INLINE", "LIB_A", "LIB_B"}


def test_what_the_grammar_of_c_misreads_is_no_variable():
    source = b"#define inline_it inline\ninternal_it inline_it\nint f(int a) {\n  return a;\n}\nint total;\n"
    parsed = parse_file(source, "c", "a.c")
    assert [(each.kind, each.name) for each in parsed.names] == [
        ("macro", "inline_it"),
        ("variable", "total"),
    ]
    assert ("read", "inline_it", 2) in {(each.kind, each.name, each.line) for each in parsed.references}
    broken = b"int total;\n) {\n  int rest;\n  rest = 1;\n}\n"
    assert [each.name for each in parse_file(broken, "c", "a.c").names] == ["total"]


def test_a_file_of_data_has_a_limited_number_of_names():
    lines = [f"name_{number} = {number}" for number in range(MAX_NAMES + 10)]
    assert len(parse("a.py", "\n".join(lines)).names) == MAX_NAMES


def test_names_of_a_long_symbol_belong_to_the_part_that_holds_them():
    body = "\n".join(f"    field_{number} = {number}" for number in range(400))
    parsed = parse("a.py", f"class Long:\n{body}\n")
    for name in parsed.names:
        part = parsed.definitions[name.owner]
        assert part.start_line <= name.line <= part.end_line
