package tests_test

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// The status of a session is decided in one place: nothing else assigns to Status or Outcome of one, nor makes one with a
// status. Syntax alone does not tell types apart, so that variables of other types with such fields are listed by name.
func TestOneFunctionDecidesStatuses(t *testing.T) {
	const judge = "discover/status.go: setStatus" // (*Session).setStatus, which applies what statusOf decides
	others := map[string]string{
		"internal/output: out":     "what JSON prints",
		"internal/cmdutil: out":    "a lock as JSON prints it",
		"launch/stop: result":      "the result of a stop",
		"launch/stored: result":    "the result of a removal",
		"discover: d":              "the decision that statusOf returns",
		"internal/output: literal": "what the agentctl of another machine has decided there",
	}
	used := map[string]bool{}
	for _, f := range files(t) {
		if f.isTest() || strings.HasPrefix(f.path, "tests/") {
			continue
		}
		for _, d := range f.Decls {
			within := ""
			if fn, ok := d.(*ast.FuncDecl); ok {
				within = f.path + ": " + fn.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				for _, x := range statusWrites(n) {
					key := path.Dir(f.path) + ": " + x
					switch {
					case within == judge && x == "s":
						used[judge] = true
					case others[key] != "":
						used[key] = true
					default:
						t.Errorf("%s: the status of a session is decided by statusOf in discover/status.go alone", f.at(n))
					}
				}
				return true
			})
		}
	}
	for key := range others {
		if !used[key] {
			t.Errorf("%s is excepted, but sets nothing", key)
		}
	}
	if !used[judge] {
		t.Errorf("%s sets no status: the test looks in the wrong place", judge)
	}
}

// statusWrites returns what a node sets Status or Outcome of: the names of variables, or of a literal's type.
func statusWrites(n ast.Node) (of []string) {
	field := func(e ast.Expr) {
		if s, ok := e.(*ast.SelectorExpr); ok && (s.Sel.Name == "Status" || s.Sel.Name == "Outcome") {
			name := "?"
			if x, ok := s.X.(*ast.Ident); ok {
				name = x.Name
			}
			of = append(of, name)
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			field(e)
		}
	case *ast.RangeStmt:
		field(n.Key)
		field(n.Value)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			field(n.X)
		}
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && (key.Name == "Status" || key.Name == "Outcome") {
					of = append(of, "literal")
				}
			}
		}
	}
	return of
}
