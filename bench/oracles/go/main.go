// Prints the call sites of the Go modules under a checkout as JSON lines (see bench/graph_oracle.py).
//
// What a site names comes from go/types. Where that is an interface's method or a variable, VTA (variable
// type analysis of golang.org/x/tools) over the bodies of the checkout's packages says what may run. References are
// all other names that go/types knows, but for packages, and types inside functions and their fields.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
	"golang.org/x/tools/go/types/typeutil"
)

type target struct {
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Name     string `json:"name"`
	Dispatch string `json:"dispatch,omitempty"`
	Kind     string `json:"kind,omitempty"`
}

type site struct {
	Path    string   `json:"path"`
	Line    int      `json:"line"`
	Column  int      `json:"column"`
	Caller  string   `json:"caller"`
	Kind    string   `json:"kind"`
	Targets []target `json:"targets"`

	Name      string `json:"name,omitempty"`
	Reference string `json:"reference,omitempty"`
}

func main() {
	root, err := filepath.EvalSymlinks(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for _, module := range modules(root) {
		for _, s := range load(root, module).sites() {
			if err := encoder.Encode(s); err != nil {
				log.Fatal(err)
			}
		}
	}
}

// modules returns the folders with a go.mod that are not test data.
func modules(root string) []string {
	var found []string
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
			name == "testdata" || name == "test-fixtures" || name == "vendor" || name == "node_modules") {
			return filepath.SkipDir
		}
		if name == "go.mod" {
			found = append(found, filepath.Dir(path))
		}
		return nil
	})
	return found
}

type module struct {
	root     string
	fset     *token.FileSet
	packages []*packages.Package
	dynamic  map[token.Pos]map[*ssa.Function]bool // by the position of the call's parenthesis
}

func load(root, folder string) *module {
	fset := token.NewFileSet()
	parse := func(fset *token.FileSet, name string, source []byte) (*ast.File, error) {
		return parseFile(root, fset, name, source)
	}
	config := &packages.Config{Mode: packages.LoadAllSyntax, Dir: folder, Fset: fset, Tests: true, ParseFile: parse}
	loaded, err := packages.Load(config, "./...")
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range loaded {
		for _, problem := range p.Errors {
			if !strings.HasSuffix(p.ID, ".test") { // a generated main function
				log.Printf("%s: %v", p.ID, problem)
			}
		}
	}
	// Dependencies without bodies do not use their imports; that is no reason to leave anything out.
	packages.Visit(loaded, nil, func(p *packages.Package) { p.IllTyped = false })
	m := &module{root, fset, loaded, map[token.Pos]map[*ssa.Function]bool{}}
	m.analyse()
	return m
}

// parseFile parses a file; of dependencies only the declarations, which is all that types need.
func parseFile(root string, fset *token.FileSet, name string, source []byte) (*ast.File, error) {
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if file != nil && !strings.HasPrefix(name, root+"/") {
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok {
				function.Body = nil
			}
		}
	}
	return file, err
}

// analyse records the functions that VTA finds at each call through an interface or a variable.
func (m *module) analyse() {
	program, _ := ssautil.Packages(m.packages, ssa.InstantiateGenerics)
	program.Build()
	functions := ssautil.AllFunctions(program)
	for _, node := range vta.CallGraph(functions, cha.CallGraph(program)).Nodes {
		for _, edge := range node.Out {
			if edge.Site == nil || edge.Site.Common().StaticCallee() != nil {
				continue
			}
			position := edge.Site.Pos()
			if m.dynamic[position] == nil {
				m.dynamic[position] = map[*ssa.Function]bool{}
			}
			m.dynamic[position][edge.Callee.Func] = true
		}
	}
}

func (m *module) sites() []site {
	var found []site
	for _, p := range m.packages {
		for _, file := range p.Syntax {
			path := m.relative(m.fset.Position(file.Package).Filename)
			if path == "" {
				continue
			}
			for _, declaration := range file.Decls {
				caller, written := callerName(declaration), map[*ast.Ident]string{}
				ast.Inspect(declaration, func(node ast.Node) bool {
					noteKinds(node, p.TypesInfo, written)
					if name, ok := node.(*ast.Ident); ok && written[name] != "call" {
						if s := m.reference(p.TypesInfo.Uses[name], name, path, written[name]); s != nil {
							found = append(found, *s)
						}
					}
					if call, ok := node.(*ast.CallExpr); ok {
						if s := m.site(p.TypesInfo, call, path, caller); s != nil {
							found = append(found, *s)
						}
					}
					return true
				})
			}
		}
	}
	return found
}

func (m *module) site(info *types.Info, call *ast.CallExpr, path, caller string) *site {
	name := calledName(call.Fun)
	if name == nil {
		return nil // the result of a call, or a literal
	}
	position := m.fset.Position(name.Pos())
	if m.relative(position.Filename) != path {
		return nil // a generated file that names its source by //line
	}
	s := &site{Path: path, Line: position.Line, Column: position.Column - 1, Caller: caller, Kind: "static", Targets: []target{}}
	switch callee := typeutil.Callee(info, call).(type) {
	case *types.Func:
		if t := m.target(callee.Origin().Pos(), callee.Name()); t != nil {
			s.Targets = append(s.Targets, *t)
		}
		if receiver := callee.Signature().Recv(); receiver != nil && types.IsInterface(receiver.Type()) {
			s.Kind = "dynamic"
			s.Targets = append(s.Targets, m.dispatched(call, "method")...)
		}
	case *types.Var:
		s.Kind = "dynamic"
		s.Targets = m.dispatched(call, "value")
		if callee.Pkg() != nil && callee.Parent() == callee.Pkg().Scope() { // the variable itself is a symbol
			if t := m.target(callee.Pos(), callee.Name()); t != nil {
				t.Dispatch = "value"
				s.Targets = append(s.Targets, *t)
			}
		}
		if len(s.Targets) == 0 {
			return nil
		}
	default: // a conversion, a builtin, or code that does not compile
		return nil
	}
	return s
}

// noteKinds records the names below a node that are called, assigned, keys of a literal or embedded.
func noteKinds(node ast.Node, info *types.Info, kinds map[*ast.Ident]string) {
	note := func(expression ast.Expr, kind string) {
		if name := calledName(expression); name != nil {
			kinds[name] = kind
		}
	}
	switch n := node.(type) {
	case *ast.CallExpr:
		if _, ok := typeutil.Callee(info, n).(*types.Func); ok {
			note(n.Fun, "call")
		}
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			note(left, "write")
		}
	case *ast.IncDecStmt:
		note(n.X, "write")
	case *ast.KeyValueExpr:
		note(n.Key, "keyword")
	case *ast.StructType:
		for _, field := range n.Fields.List {
			if field.Names == nil {
				note(field.Type, "base")
			}
		}
	}
}

// reference returns what a name that is not called refers to; nil if nothing is known of it.
func (m *module) reference(object types.Object, name *ast.Ident, path, kind string) *site {
	position := m.fset.Position(name.Pos())
	if object == nil || m.relative(position.Filename) != path {
		return nil
	}
	isGlobal := object.Pkg() != nil && object.Parent() == object.Pkg().Scope()
	definition, otherwise := "", "read"
	switch o := object.(type) {
	case *types.PkgName, *types.Label:
		return nil
	case *types.Var:
		object = o.Origin()
		if definition = "variable"; o.IsField() {
			definition, isGlobal = "field", true
		}
	case *types.Const:
		definition = "constant"
	case *types.TypeName:
		definition, otherwise = "type", "type"
		if _, ok := o.Type().(*types.TypeParam); !ok && !isGlobal && o.Pkg() != nil {
			return nil // a type inside a function
		}
	case *types.Func:
		object, definition, isGlobal = o.Origin(), "function", true
		if o.Signature().Recv() != nil {
			definition = "method"
		}
	}
	if kind == "" || (kind == "keyword" && definition != "field") {
		kind = otherwise
	}
	s := &site{Path: path, Line: position.Line, Column: position.Column - 1, Targets: []target{}, Name: name.Name, Reference: kind}
	if t := m.target(object.Pos(), object.Name()); t != nil && isGlobal {
		if definition == "field" && m.isInFunction(object.Pos()) {
			return nil
		}
		t.Kind = definition
		s.Targets = append(s.Targets, *t)
	}
	return s
}

func (m *module) isInFunction(at token.Pos) bool {
	for _, p := range m.packages {
		for _, file := range p.Syntax {
			for _, declaration := range file.Decls {
				_, ok := declaration.(*ast.FuncDecl)
				if ok && declaration.Pos() <= at && at < declaration.End() {
					return true
				}
			}
		}
	}
	return false
}

// dispatched returns the named functions of the checkout that VTA finds at a call.
func (m *module) dispatched(call *ast.CallExpr, kind string) []target {
	seen := map[target]bool{}
	for function := range m.dynamic[call.Lparen] {
		if origin := function.Origin(); origin != nil {
			function = origin
		}
		declared, ok := function.Object().(*types.Func)
		if !ok {
			continue // a closure, or a wrapper
		}
		if t := m.target(declared.Pos(), declared.Name()); t != nil {
			t.Dispatch = kind
			seen[*t] = true
		}
	}
	found := make([]target, 0, len(seen))
	for t := range seen {
		found = append(found, t)
	}
	sort.Slice(found, func(i, j int) bool { return fmt.Sprint(found[i]) < fmt.Sprint(found[j]) })
	return found
}

func (m *module) target(pos token.Pos, name string) *target {
	position := m.fset.Position(pos)
	path := m.relative(position.Filename)
	if path == "" {
		return nil
	}
	return &target{Path: path, Line: position.Line, Name: name}
}

// relative returns the path of a file in the checkout, "" for one outside.
func (m *module) relative(file string) string {
	path, err := filepath.Rel(m.root, file)
	if err != nil || strings.HasPrefix(path, "..") || strings.HasPrefix(path, "vendor/") {
		return ""
	}
	return filepath.ToSlash(path)
}

func calledName(function ast.Expr) *ast.Ident {
	switch f := ast.Unparen(function).(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	case *ast.IndexExpr:
		return calledName(f.X)
	case *ast.IndexListExpr:
		return calledName(f.X)
	}
	return nil
}

// callerName returns the name of a function, with the type of its receiver; "" for other declarations.
func callerName(declaration ast.Decl) string {
	function, ok := declaration.(*ast.FuncDecl)
	if !ok {
		return ""
	}
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return function.Name.Name
	}
	receiver := function.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	return strings.SplitN(types.ExprString(receiver), "[", 2)[0] + "." + function.Name.Name
}
