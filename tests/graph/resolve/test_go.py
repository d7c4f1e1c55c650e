"""Go: method sets, types of values, packages."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

SHAPES = """package shapes

type Shape interface {
	Area() float64
	Scale(by float64) Shape
}

type Named interface {
	Name() string
}

type NamedShape interface {
	Shape
	Named
}

type Square struct {
	side float64
}

func (s *Square) Area() float64           { return s.side * s.side }
func (s *Square) Scale(k float64) Shape { return s }

type Flat struct{}

func (f Flat) Area() int { return 0 }

type Labelled struct {
	*Square
	label string
}

func (l Labelled) Name() string { return l.label }
"""


def implements(files):
    return {
        f"{s.partition(':')[2]} -> {t.partition(':')[2]}" for _, s, t, *_ in files.named_edges("implements")
    }


def test_a_type_implements_the_interfaces_that_its_method_set_covers(tmp_path):
    """Promoted methods count, methods of other signatures do not."""
    with world(tmp_path, {"go.mod": "module m\n", "shapes/shapes.go": SHAPES}) as files:
        assert implements(files) == {
            "Square -> Shape",
            "Labelled -> Shape",
            "Labelled -> Named",
            "Labelled -> NamedShape",
        }


def test_interfaces_of_other_packages_are_implemented_by_exported_methods(tmp_path):
    tree = {
        "go.mod": "module m\n",
        "store/store.go": 'package store\n\nimport "m/item"\n\n'
        "type Store interface {\n\tPut(key string, value item.Item) error\n}\n\n"
        "type Sealed interface {\n\tseal()\n}\n",
        "item/item.go": "package item\n\ntype Item struct{}\n\ntype Shelf struct{}\n\n"
        "func (s Shelf) Put(k string, v Item) error { return nil }\nfunc (s Shelf) seal() {}\n",
    }
    with world(tmp_path, tree) as files:
        assert implements(files) == {"Shelf -> Store"}
        files.put("item/more.go", "package item\n\ntype Box struct{}\n")
        files.put(
            "item/box.go", "package item\n\nfunc (b *Box) Put(k string, v Item) (err error) { return }\n"
        )
        files.link()
        assert implements(files) == {"Shelf -> Store", "Box -> Store"}
        files.put("store/store.go", "package store\n\ntype Store interface {\n\tTake() error\n}\n")
        files.link()
        assert implements(files) == set()


def test_a_call_through_an_interface_means_its_method(tmp_path):
    code = SHAPES + "\nfunc Sum(all []Shape, one Shape) float64 { return one.Area() }\n"
    with world(tmp_path, {"shapes.go": code}) as files:
        assert "shapes.go:Sum -> shapes.go:Shape.Area" in files.calls()


def test_of_build_variants_the_default_one_is_meant_and_the_others_are_possible(tmp_path):
    tree = {
        "open.go": "//go:build !plan9 && (linux || darwin)\n\npackage m\n\nfunc open() {}\n",
        "open_windows.go": "package m\n\nfunc open() {}\n",
        "open_other.go": "// Licence.\n\n//go:build plan9\n\npackage m\n\nfunc open() {}\n",
        "use.go": "package m\n\nfunc Use() { open() }\n",
    }
    with world(tmp_path, tree) as files:
        assert files.calls() == {
            "use.go:Use -> open.go:open",
            "use.go:Use -> open_windows.go:open (ambiguous)",
            "use.go:Use -> open_other.go:open (ambiguous)",
        }


def test_the_external_tests_of_a_folder_are_a_package_of_their_own(tmp_path):
    tree = {
        "a.go": "package m\n\nfunc setup() {}\n\nfunc Run() { setup() }\n",
        "a_test.go": "package m_test\n\nfunc setup() {}\n\nfunc TestRun() { setup() }\n",
    }
    with world(tmp_path, tree) as files:
        assert {"a.go:Run -> a.go:setup", "a_test.go:TestRun -> a_test.go:setup"} <= files.calls()


def test_variables_of_a_package_have_their_types_wherever_they_are_declared(tmp_path):
    tree = {
        "go.mod": "module m\n",
        "shop/shop.go": "package shop\n\ntype Shop struct{}\n\nfunc (s Shop) Open() {}\n\n"
        "var (\n\tFirst = Shop{}\n\tSecond Shop = Shop{}\n\tThird = &Shop{}\n)\n",
        "main.go": 'package main\n\nimport "m/shop"\n\nfunc main() {\n\tshop.Second.Open()\n}\n\n'
        "func again() {\n\tshop.Third.Open()\n}\n",
    }
    with world(tmp_path, tree) as files:
        assert {
            "main.go:main -> shop/shop.go:Shop.Open",
            "main.go:again -> shop/shop.go:Shop.Open",
        } <= files.calls()


def test_an_embedded_type_is_a_field_of_its_name(tmp_path):
    code = "package m\n\ntype Base struct{}\n\nfunc (b *Base) Save() {}\n\ntype Cart struct{ *Base }\n\n"
    code += "func (c *Cart) Save() { c.Base.Save() }\n"
    with world(tmp_path, {"a.go": code}) as files:
        assert files.calls() == {"a.go:Cart.Save -> a.go:Base.Save"}


def test_an_interface_from_outside_may_be_implemented_here(tmp_path):
    """A struct from outside has methods of its own."""
    code = 'package m\n\nimport (\n\t"bytes"\n\t"io"\n)\n\ntype Sink struct{}\n\n'
    code += "func (s Sink) Write(p []byte) (int, error) { return 0, nil }\n\n"
    code += "func send(w io.Writer) { w.Write(nil) }\n\nfunc fill(b *bytes.Buffer) { b.Write(nil) }\n"
    with world(tmp_path, {"a.go": code}) as files:
        assert files.calls() == {"a.go:send -> a.go:Sink.Write (ambiguous)"}


def test_variadic_parameters_belong_to_the_signature(tmp_path):
    code = "package m\n\ntype Log interface {\n\tAdd(...string) Log\n}\n\ntype Lines struct{}\n\n"
    code += "func (l Lines) Add(all ...string) Log { return l }\n"
    with world(tmp_path, {"a.go": code}) as files:
        assert implements(files) == {"Lines -> Log"}


TYPES = """package m

type Foo struct{ next *Foo; all []*Foo; by map[string]Foo; run func() *Foo }

func (f *Foo) A() {}
func (f *Foo) Clone() *Foo { return f }

type Bar struct{}

func (b Bar) A() {}

type Shape interface{ A() }

type Foos []*Foo

type Make func(n int) *Foo

func pair() (*Foo, error) { return nil, nil }
func both() (b Bar, f *Foo) { return }
func list() []Foo { return nil }
"""


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("x, err := pair()\n\tx.A()\n\t_ = err", "Foo"),
        ("_, x := both()\n\tx.A()", "Foo"),
        ("x, y := Bar{}, &Foo{}\n\tx.A()\n\t_ = y", "Bar"),
        ("for _, x := range list() {\n\t\tx.A()\n\t}", "Foo"),
        ("for _, x := range f.by {\n\t\tx.A()\n\t}", "Foo"),
        ("for _, x := range fs {\n\t\tx.A()\n\t}", "Foo"),
        ("list()[0].A()", "Foo"),
        ("f.all[1].next.Clone().A()", "Foo"),
        ('if x, ok := f.by["a"]; ok {\n\t\tx.A()\n\t}', "Foo"),
        ("if x, ok := any.(*Foo); ok {\n\t\tx.A()\n\t}", "Foo"),
        ("any.(Bar).A()", "Bar"),
        ("switch x := any.(type) {\n\tcase *Foo:\n\t\t_ = x\n\tcase Bar:\n\t\tx.A()\n\t}", "Bar"),
        ("g := func() Bar { return Bar{} }\n\tg().A()", "Bar"),
        ("f.run().A()", "Foo"),
        ("make_(1).A()", "Foo"),
        ("x := make([]Bar, 3)\n\tx[0].A()", "Bar"),
        ("x := new(Bar)\n\tx.A()", "Bar"),
        ("x := <-ch\n\tx.A()", "Foo"),
        ("x := append(fs, f)\n\tx[0].A()", "Foo"),
        ("more[0].A()", "Bar"),
        ("x := f\n\tif true {\n\t\tx := Bar{}\n\t\tx.A()\n\t}\n\t_ = x", "Bar"),
        ("x := Bar{}\n\tif true {\n\t\tx := f\n\t\t_ = x\n\t}\n\tx.A()", "Bar"),
        ("for _, f := range f.all {\n\t\tf.A()\n\t}", "Foo"),
        ("t.A()", "Shape"),
    ],
)
def test_types_of_variables(tmp_path, body, target):
    parameters = "f *Foo, fs Foos, any interface{}, make_ Make, ch chan *Foo, t T, more ...Bar"
    head = f"func use[T Shape]({parameters}) {{\n\t"
    with world(tmp_path, {"types.go": TYPES, "use.go": f"package m\n\n{head}{body}\n}}\n"}) as files:
        calls = {call for call in files.calls() if call.endswith((".A", ")"))}
        assert calls == {f"use.go:use -> types.go:{target}.A"}


def test_functions_as_values_are_possible_calls(tmp_path):
    code = 'package m\n\nimport "net/http"\n\ntype Server struct{ name string }\n\n'
    code += "func (s *Server) handle() {}\n\nfunc setup() {}\n\ntype Table struct{ run func() }\n\n"
    code += 'func start(s *Server) {\n\thttp.HandleFunc("/", s.handle)\n\tuse(s.name, setup)\n'
    code += "\t_ = Table{run: setup}\n}\n\nfunc use(n string, f func()) {}\n"
    with world(tmp_path, {"a.go": code}) as files:
        assert files.calls() == {
            "a.go:start -> a.go:Server.handle (possible)",
            "a.go:start -> a.go:setup (possible)",
            "a.go:start -> a.go:use",
            "a.go:start -> a.go:Table",
        }
