package adapters

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/agents"
	"agentctl/proc"
	"agentctl/tests/cmdtest"
	"agentctl/tests/sampleagent"
)

// Every exported method of an adapter is called through an interface.
func TestAdaptersImplementInterfaces(t *testing.T) {
	list := []any{sampleagent.Adapter{}, cmdtest.Stub{}}
	for _, a := range agents.All() {
		list = append(list, a)
	}
	for _, adapter := range list {
		if _, ok := adapter.(discover.Adapter); !ok {
			t.Errorf("%T is no adapter", adapter)
		}
		for _, problem := range Problems(adapter) {
			t.Error(problem)
		}
	}
}

// renamed is an adapter with a method whose signature has changed, and one whose name has.
type renamed struct{ sampleagent.Adapter }

func (renamed) WatchPaths() []string        { return nil }
func (renamed) IsAgent(p proc.Process) bool { return p.Name != "" }

func TestProblemsNameMethodsWithoutAnInterface(t *testing.T) {
	got := Problems(renamed{})
	for _, want := range []string{"IsAgent", "MatchesBinary", "WatchPaths"} {
		if !slices.ContainsFunc(got, func(problem string) bool { return strings.Contains(problem, "."+want+" ") }) {
			t.Errorf("%q does not name %s", got, want)
		}
	}
}

// The list has every exported interface of discover and launch that says that adapters implement it.
func TestEveryInterfaceForAdaptersIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, i := range interfaces() {
		listed[i.String()] = true
	}
	for _, pkg := range []string{"discover", "launch"} {
		files, err := filepath.Glob(filepath.Join("../..", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range f.Decls {
				d, ok := decl.(*ast.GenDecl)
				if !ok || d.Tok != token.TYPE {
					continue
				}
				s := d.Specs[0].(*ast.TypeSpec)
				_, isInterface := s.Type.(*ast.InterfaceType)
				if isInterface && strings.Contains(d.Doc.Text(), "adapters") && !listed[pkg+"."+s.Name.Name] {
					t.Errorf("%s.%s is not listed", pkg, s.Name.Name)
				}
			}
		}
	}
}
