package tests_test

import (
	"debug/elf"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/must"
)

// file is one of the module's Go files.
type file struct {
	*ast.File
	path  string // below the module's root
	lines int
	fset  *token.FileSet
}

func (f file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// at is the place of a node, for messages.
func (f file) at(n ast.Node) string {
	return f.path + strings.TrimPrefix(f.fset.Position(n.Pos()).String(), f.fset.Position(n.Pos()).Filename)
}

// files parses the whole module, whatever system a file is for.
func files(t *testing.T) []file {
	t.Helper()
	var list []file
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && name != ".." && (strings.HasPrefix(name, ".") || name == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f := file{fset: token.NewFileSet(), lines: strings.Count(string(raw), "\n"), path: filepath.ToSlash(path[len("../"):])}
		if f.File, err = parser.ParseFile(f.fset, path, raw, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return err
		}
		list = append(list, f)
		return nil
	})
	must.Do(t, err)
	if len(list) < 20 {
		t.Fatalf("only %d files: the test looks in the wrong place", len(list))
	}
	return list
}

// No init, no variables that could change: what a package does depends on what it is given.
func TestNoStateInPackages(t *testing.T) {
	// Variables that are never assigned to but cannot be constants, with the reason.
	allowed := map[string]string{
		"tests/golden/golden.go:update": "a flag of every test that compares",
		"main.go:version":               "set when a release is linked (-X main.version=…)",
	}
	for _, f := range files(t) {
		if f.isTest() {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					t.Errorf("%s: init registers or computes behind the caller's back", f.at(d))
				}
			case *ast.GenDecl:
				for _, v := range variables(d) {
					key := f.path + ":" + v.name
					if _, ok := allowed[key]; ok {
						delete(allowed, key)
					} else if !v.constant {
						t.Errorf("%s: package variable %s: pass it, or build it in a function", f.at(d), v.name)
					}
				}
			}
		}
	}
	for key, reason := range allowed {
		t.Errorf("%s is allowed (%s), but there is no such variable", key, reason)
	}
}

type variable struct {
	name     string
	constant bool
}

// variables are those that a declaration makes. As good as constant are sentinel errors, values computed once on
// demand, embedded files, and the blank name.
func variables(d *ast.GenDecl) []variable {
	if d.Tok != token.VAR {
		return nil
	}
	var out []variable
	for _, s := range d.Specs {
		spec := s.(*ast.ValueSpec)
		for i, name := range spec.Names {
			v := variable{name.Name, name.Name == "_" || embedded(d.Doc) || embedded(spec.Doc)}
			if i < len(spec.Values) {
				if call, ok := spec.Values[i].(*ast.CallExpr); ok {
					v.constant = v.constant || slices.Contains([]string{
						"errors.New", "fmt.Errorf", "sync.OnceValue", "sync.OnceValues", "sync.OnceFunc",
					}, selector(call.Fun))
				}
			}
			out = append(out, v)
		}
	}
	return out
}

func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// selector writes x.Sel as it stands in the source; "" for any other expression.
func selector(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// Only main ends the process. Test files are left out: a test binary that plays another program must end like one.
func TestNobodyElseExits(t *testing.T) {
	for _, f := range files(t) {
		if f.isTest() {
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "main" && fn.Name.Name == "main" {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					switch selector(e) {
					case "os.Exit", "syscall.Exit", "unix.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln":
						t.Errorf("%s: %s outside main", f.at(n), selector(e))
					}
				}
				return true
			})
		}
	}
}

// On Linux the released binary needs nothing that is not in it.
func TestReleaseBinary(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // elsewhere the system's own library is always linked
	}
	bin := filepath.Join(t.TempDir(), "agentctl")
	if out, err := exec.Command("./build", bin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(bin)
	must.Do(t, err)
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary asks for a dynamic loader")
		}
	}
	if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 {
		t.Errorf("the binary needs %q (%v)", libs, err)
	}
}
