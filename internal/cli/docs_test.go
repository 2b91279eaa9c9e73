package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/config"
	"agentctl/internal/object"
)

// section returns what stands below a heading.
func section(text, heading string) string {
	_, after, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		return ""
	}
	body, _, _ := strings.Cut(after, "\n## ")
	return body
}

// firstCells are the code words in the first cell of each row of the tables in text.
func firstCells(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// docs/cli.md names every flag of every command, in its section, and no other. Those of [UserFlags], which most commands take,
// have one section, which names the commands that do not take them.
func TestDocsNameEveryFlag(t *testing.T) {
	f, _ := testEnv(t)
	text := Doc(t, "cli.md")
	for _, c := range Leaves(NewApp(f, Verbs()).Commands) {
		name := CommandName(c)
		body := section(text, name)
		if body == "" {
			t.Errorf("%s has no section", name)
		}
		for _, alias := range c.Aliases {
			if !regexp.MustCompile(`also:.*\b` + alias + `\b`).MatchString(body) {
				t.Errorf("%s: alias %s is not named", name, alias)
			}
		}
		var got []string
		for _, cell := range firstCells(body) {
			name, _, _ := strings.Cut(cell, " ")
			got = append(got, name)
		}
		shared := firstCells(section(text, "Whose sessions"))
		for i := range shared {
			shared[i], _, _ = strings.Cut(shared[i], " ")
		}
		onHosts := firstCells(section(text, "Other hosts"))
		for i := range onHosts {
			onHosts[i], _, _ = strings.Cut(onHosts[i], " ")
		}
		all := slices.DeleteFunc(FlagNames(c), func(n string) bool { return slices.Contains(onHosts, n) })
		named, _, _ := strings.Cut(section(text, "Other hosts"), "can act on other machines")
		if takes := len(all) < len(FlagNames(c)); takes != strings.Contains(named, "`"+name+"`") {
			t.Errorf("%s: whether it takes %v is not what the document says", name, onHosts)
		}
		want := slices.DeleteFunc(slices.Clone(all), func(n string) bool { return n == "--help" || slices.Contains(shared, n) })
		verb, _, _ := strings.Cut(name, " ")
		if takes := len(want) < len(all)-1; takes == regexp.MustCompile("except.*`"+verb+"`").MatchString(section(text, "Whose sessions")) {
			t.Errorf("%s: whether it takes %v is not what the document says", name, shared)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the document names %v, the code %v", name, got, want)
		}
	}
}

// The document's exit codes are those of exit.go.
func TestDocsNameEveryExitCode(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "exit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			if v := s.(*ast.ValueSpec); strings.HasPrefix(v.Names[0].Name, "Exit") {
				want = append(want, v.Values[0].(*ast.BasicLit).Value)
			}
		}
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(section(Doc(t, "cli.md"), "Exit codes"), -1) {
		got = append(got, m[1])
	}
	if len(want) < 8 || !slices.Equal(got, want) {
		t.Errorf("the document has %v, the code %v", got, want)
	}
}

// docs/json.md has a row for every field, in the contract's order.
func TestDocsNameEveryField(t *testing.T) {
	intro, _, _ := strings.Cut(Doc(t, "json.md"), "\n## ")
	var want []string
	ofVerbs := []string{"explain", "matches", "answer"}
	for f := range reflect.TypeFor[object.Session]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !slices.Contains(ofVerbs, name) {
			want = append(want, name)
		}
	}
	if got, want := firstCells(intro), append(want, ofVerbs...); !slices.Equal(got, want) {
		t.Errorf("the document has\n%v, the code\n%v", got, want)
	}
}

// The JSON in the document is what it says it is: each block names its part of the schema.
func TestDocsExamples(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```json(?: (\\w+))?\n(.*?)```").FindAllStringSubmatch(Doc(t, "json.md"), -1)
	if len(blocks) < 3 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, b := range blocks {
		CheckSchema(t, b[1], b[2])
	}
}

// The matrix in the document is one.
func TestDocsMatrix(t *testing.T) {
	m := regexp.MustCompile("(?s)```toml\n(.*?)```").FindStringSubmatch(section(Doc(t, "cli.md"), "launch"))
	if m == nil {
		t.Fatal("no example")
	}
	path := t.TempDir() + "/m.toml"
	if err := os.WriteFile(path, []byte(m[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := config.LoadMatrix(path, "/home/ana", []string{"claude-code", "codex"})
	if err != nil || len(got.Rows) != 2 || got.Dir != "/home/ana/src/api" {
		t.Errorf("%+v, %v", got, err)
	}
}

// The configuration in the document is in force when copied; what it shows are the defaults.
func TestDocsConfiguration(t *testing.T) {
	m := regexp.MustCompile("(?s)```toml\n(.*?)```").FindStringSubmatch(section(Doc(t, "cli.md"), "Configuration"))
	if m == nil {
		t.Fatal("no example")
	}
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/agentctl", 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(m[1], "opencode ", "#opencode ") // the made-up world has two agents
	if err := os.WriteFile(dir+"/agentctl/config.toml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, _ := testEnv(t)
	plain, _, err := f.Settings(false)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := Setenv(f, "XDG_CONFIG_HOME", dir).Settings(false)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Homes) != 2 || fmt.Sprint(got.Since, got.Color, got.Strict) != fmt.Sprint(plain.Since, plain.Color, plain.Strict) {
		t.Errorf("got %+v, default %+v", got, plain)
	}
}
