package tests_test

import (
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestInterfacesOfAdaptersAreDocumented holds docs/adding-an-agent.md against packages discover and launch: it explains each of their
// interfaces, and what it names of them exists.
func TestInterfacesOfAdaptersAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/adding-an-agent.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("`((discover|launch)\\.[A-Z]\\w*)").FindAllStringSubmatch(string(text), -1) {
		documented[m[1]] = true
	}
	exists, interfaces := map[string]bool{}, 0
	for _, f := range files(t) {
		folder, _, _ := strings.Cut(f.path, "/")
		if f.isTest() || folder != "discover" && folder != "launch" || strings.Count(f.path, "/") != 1 {
			continue
		}
		for name, typ := range declaredNames(f.File) {
			name = folder + "." + name
			exists[name] = true
			if _, ok := typ.(*ast.InterfaceType); ok && ast.IsExported(name[len(folder)+1:]) {
				if interfaces++; !documented[name] {
					t.Errorf("docs/adding-an-agent.md does not explain the interface %s", name)
				}
			}
		}
	}
	for name := range documented {
		if !exists[name] {
			t.Errorf("docs/adding-an-agent.md names %s, which does not exist", name)
		}
	}
	if interfaces < 10 {
		t.Errorf("only %d interfaces found: the test looks in the wrong place", interfaces)
	}
}

// declaredNames are the constants, types and functions of a file; of types with what they are.
func declaredNames(f *ast.File) map[string]ast.Expr {
	names := map[string]ast.Expr{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = nil
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = s.Type
				case *ast.ValueSpec:
					for _, id := range s.Names {
						names[id.Name] = nil
					}
				}
			}
		}
	}
	return names
}
