package tests_test

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinksOfDocuments checks that the files and headings that the documents link to exist.
func TestLinksOfDocuments(t *testing.T) {
	documents, links := markdown(t), 0
	for name, text := range documents {
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join("..", to)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if anchor != "" && !hasHeading(documents[to], anchor) {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
	if links < 20 {
		t.Errorf("only %d links found: the test looks in the wrong place", links)
	}
}

// markdown is the module's documents by their paths.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	documents := map[string]string{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(name)
		documents[filepath.ToSlash(name[len("../"):])] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// hasHeading reports whether a document has an anchor: its own, or that of a heading as GitHub makes it, in small letters, with - for
// blanks and without punctuation.
func hasHeading(text, anchor string) bool {
	if strings.Contains(text, `id="`+anchor+`"`) {
		return true
	}
	for line := range strings.Lines(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			heading = regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			if strings.ReplaceAll(heading, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}

// TestDesignNamesWhatExists checks that the files, packages and identifiers that docs/design.md names exist.
func TestDesignNamesWhatExists(t *testing.T) {
	text, err := os.ReadFile("../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	declared := declarations(t)
	names := 0
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(text), -1) {
		name := m[1]
		switch {
		case regexp.MustCompile(`^(proc|discover|launch|lock|internal|tests|docs)\b.*(/|\.go|\.md)$`).MatchString(name):
			if matches, _ := filepath.Glob(filepath.Join("..", name)); len(matches) == 0 {
				t.Errorf("docs/design.md names %s, which does not exist", name)
			}
			names++
		case regexp.MustCompile(`^\w+\.[A-Z]\w*(\.\w+)?$`).MatchString(name), regexp.MustCompile(`^[A-Z]\w+\.\w+$`).MatchString(name):
			first, member, _ := strings.Cut(name, ".")
			if !declared[first] {
				continue // of the standard library
			}
			if strings.Count(name, ".") == 2 {
				name = member
			}
			if !declared[name] {
				t.Errorf("docs/design.md names %s, which does not exist", name)
			}
			names++
		}
	}
	if names < 30 {
		t.Errorf("only %d names found: the test looks in the wrong place", names)
	}
}

// TestDocLinksResolve checks that what comments link to, as [Name], [Type.Member] or [pkg.Name], exists.
func TestDocLinksResolve(t *testing.T) {
	declared, links := declarations(t), 0
	link := regexp.MustCompile(`(?:^|[ (])\[\*?([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)\](?:[ .,;:)]|$)`)
	for _, f := range files(t) {
		if f.isTest() || strings.HasPrefix(f.path, "tests/") {
			continue
		}
		for _, group := range f.Comments {
			for _, m := range link.FindAllStringSubmatch(group.Text(), -1) {
				name := m[1]
				links++
				first, member, qualified := strings.Cut(name, ".")
				found := declared[f.Name.Name+"."+name]
				switch {
				case qualified && declared["package "+first]:
					found = declared[name] || declared[member]
				case qualified && (!declared[first] || declared["import "+first]):
					continue // of the standard library, or of another module
				case qualified:
					found = declared[name]
				}
				if !found {
					t.Errorf("%s: [%s] does not exist", f.at(group), name)
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links found: the test looks in the wrong place", links)
	}
}

// declarations are the names that the module declares: Name, pkg.Name, Type.Member, pkg, "package pkg", and as "import pkg" what it imports.
func declarations(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	for _, f := range files(t) {
		pkg := f.Name.Name
		declared[pkg], declared["package "+pkg] = true, true
		for _, spec := range f.Imports {
			declared["import "+path.Base(strings.Trim(spec.Path.Value, `"`))] = true
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				declared[n.Name.Name], declared[pkg+"."+n.Name.Name] = true, true
				if n.Recv != nil {
					declared[receiver(n.Recv.List[0].Type)+"."+n.Name.Name] = true
				}
			case *ast.TypeSpec:
				declared[n.Name.Name], declared[pkg+"."+n.Name.Name] = true, true
				for _, field := range members(n.Type) {
					declared[n.Name.Name+"."+field] = true
				}
			case *ast.ValueSpec:
				for _, id := range n.Names {
					declared[id.Name], declared[pkg+"."+id.Name] = true, true
				}
			}
			return true
		})
	}
	return declared
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// members are the names of a struct's fields, or of an interface's methods.
func members(typ ast.Expr) (names []string) {
	var list *ast.FieldList
	switch typ := typ.(type) {
	case *ast.StructType:
		list = typ.Fields
	case *ast.InterfaceType:
		list = typ.Methods
	default:
		return nil
	}
	for _, field := range list.List {
		for _, id := range field.Names {
			names = append(names, id.Name)
		}
	}
	return names
}
