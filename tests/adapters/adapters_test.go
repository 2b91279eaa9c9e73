package adapters

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/agents"
	"agentctl/tests/cmdtest"
	"agentctl/tests/sampleagent"
)

// method is a method as far as source and reflection show it alike.
type method struct {
	name            string
	params, results int
}

// Every exported method of an adapter belongs to an interface that the adapter implements. Another one had its name or signature
// changed in one place only: that compiles, but the method is never called.
func TestMethodsOfAdaptersBelongToInterfaces(t *testing.T) {
	interfaces := declaredInterfaces(t)
	list := []any{sampleagent.Adapter{}, cmdtest.Stub{}}
	for _, a := range agents.All() {
		list = append(list, a)
	}
	for _, adapter := range list {
		if _, ok := adapter.(discover.Adapter); !ok {
			t.Errorf("%T is no adapter", adapter)
		}
		for _, name := range unusedMethods(adapter, interfaces) {
			t.Errorf("%T.%s belongs to no interface that %T implements", adapter, name, adapter)
		}
	}
}

// unusedMethods returns the names of the exported methods that belong to no interface which the adapter implements.
func unusedMethods(adapter any, interfaces map[string][]method) (names []string) {
	t := reflect.TypeOf(adapter)
	has := map[method]bool{}
	for m := range t.Methods() {
		has[method{m.Name, m.Type.NumIn() - 1, m.Type.NumOut()}] = true // without the receiver
	}
	used := map[string]bool{}
	for _, methods := range interfaces {
		if !slices.ContainsFunc(methods, func(m method) bool { return !has[m] }) {
			for _, m := range methods {
				used[m.name] = true
			}
		}
	}
	for m := range t.Methods() {
		if !used[m.Name] {
			names = append(names, m.Name)
		}
	}
	return names
}

// declaredInterfaces returns the methods of the interfaces that discover and launch declare, with those of embedded ones.
func declaredInterfaces(t *testing.T) map[string][]method {
	t.Helper()
	types := map[string]*ast.InterfaceType{}
	for _, pkg := range []string{"discover", "launch"} {
		files, err := filepath.Glob(filepath.Join("../..", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for node := range ast.Preorder(f) {
				if s, ok := node.(*ast.TypeSpec); ok {
					if i, ok := s.Type.(*ast.InterfaceType); ok {
						types[pkg+"."+s.Name.Name] = i
					}
				}
			}
		}
	}
	var methodsOf func(name string) []method
	methodsOf = func(name string) (methods []method) {
		pkg, _, _ := strings.Cut(name, ".")
		for _, field := range types[name].Methods.List {
			switch typ := field.Type.(type) {
			case *ast.FuncType:
				methods = append(methods, method{field.Names[0].Name, typ.Params.NumFields(), typ.Results.NumFields()})
			case *ast.Ident:
				methods = append(methods, methodsOf(pkg+"."+typ.Name)...)
			case *ast.SelectorExpr:
				methods = append(methods, methodsOf(fmt.Sprint(typ.X, ".", typ.Sel))...)
			}
		}
		return methods
	}
	all := map[string][]method{}
	for name := range types {
		all[name] = methodsOf(name)
	}
	return all
}
