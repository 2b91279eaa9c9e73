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
	"unicode/utf8"

	"agentctl/internal/config"
	"agentctl/internal/object"
	"agentctl/tests/must"
)

// helped is what help prints for these words.
func helped(t *testing.T, env Env, out *Output, words ...string) string {
	t.Helper()
	out.Stdout.Reset()
	out.Stderr.Reset()
	if exit := Run(t.Context(), env, append([]string{"help"}, words...)...); exit != 0 || out.Stderr.Len() > 0 {
		t.Errorf("help %v: exit %d, %q", words, exit, out.Stderr.String())
	}
	return out.Stdout.String()
}

// Each command has a page, with a synopsis and all of its flags. A command with others below it has theirs.
func TestEveryCommandHasHelp(t *testing.T) {
	f, out := testEnv(t)
	app := NewApp(f)
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		all := helped(t, f, out, c.Name)
		for _, alias := range c.Aliases {
			if got := helped(t, f, out, alias); got != all {
				t.Errorf("help %s prints\n%s", alias, got)
			}
		}
		var pages []string
		for _, leaf := range Leaves(app.Commands) {
			name := CommandName(leaf)
			words := strings.Fields(name)
			if words[0] != c.Name {
				continue
			}
			page := helped(t, f, out, words...)
			pages = append(pages, page)
			if !strings.HasPrefix(page, "NAME\n    agentctl-"+strings.ReplaceAll(name, " ", "-")+" - ") || !strings.Contains(page, "\nSYNOPSIS\n        agentctl "+name) {
				t.Errorf("help %s prints\n%s", name, page)
			}
		}
		if want := strings.Join(pages, "\n"); len(pages) == 0 || all != want {
			t.Errorf("help %s prints\n%s\nwant\n%s", c.Name, all, want)
		}
	}
}

func TestHelpOfTheProgram(t *testing.T) {
	f, out := testEnv(t)
	list := helped(t, f, out)
	Run(t.Context(), f, "--help")
	if twice := out.Stdout.String(); list+list != twice || !strings.Contains(list, "\n   launch ") || strings.Contains(list, "__complete") {
		t.Errorf("%s", twice)
	}
	if text := helped(t, f, out, "agentctl"); !strings.Contains(text, "\nEXIT CODES\n") || !strings.Contains(text, "\nCONFIGURATION\n") {
		t.Errorf("%s", text)
	}
	if text := helped(t, f, out, "--help"); !strings.HasPrefix(text, "NAME:\n   agentctl help - ") || !strings.Contains(text, "--no-pager") {
		t.Errorf("%s", text)
	}
}

// A page is as wide as the terminal, up to a bound, and goes through the pager if the terminal has fewer lines.
func TestHelpOnATerminal(t *testing.T) {
	f, out := testEnv(t)
	f.Height, f.Environ = 10, []string{"PATH=/usr/bin:/bin", "PAGER=sed s/^/P/"}
	widest := map[int]int{}
	for _, width := range []int{0, 50, 200} {
		f.Width = width
		for line := range strings.Lines(helped(t, f, out, "launch", "--no-pager")) {
			line = strings.TrimSuffix(line, "\n")
			if !strings.HasPrefix(line, "        ") && strings.Contains(line, " ") { // not code, no long word
				widest[width] = max(widest[width], utf8.RuneCountInString(line))
			}
		}
	}
	for width, most := range map[int]int{0: 80, 50: 50, 200: 100} {
		if n := widest[width]; n > most || n < most-12 {
			t.Errorf("a terminal of %d columns: %d columns are used", width, n)
		}
	}
	plain := helped(t, f, out, "launch", "--no-pager")
	paged := strings.Split(helped(t, f, out, "launch"), "\n")
	for i := range paged {
		paged[i] = strings.TrimPrefix(paged[i], "P")
	}
	if got := strings.Join(paged, "\n"); got != plain || slices.Equal(paged, strings.Split(helped(t, f, out, "launch"), "\n")) {
		t.Errorf("by the pager:\n%s", got)
	}
	if got := helped(t, f, out, "completion"); !strings.HasPrefix(got, "PNAME") {
		t.Errorf("%s", got)
	}
	f.Height = 100
	if got := helped(t, f, out, "version"); !strings.HasPrefix(got, "NAME") {
		t.Errorf("%s", got)
	}
}

// The help fits a narrow terminal: what a flag means stays in its column, and no example is broken.
func TestHelpFits(t *testing.T) {
	f, out := testEnv(t)
	f.Width = 80
	for _, c := range Leaves(NewApp(f).Commands) {
		out.Stdout.Reset()
		Run(t.Context(), f, append(strings.Fields(CommandName(c)), "--help")...)
		text, _, _ := strings.Cut(out.Stdout.String(), examplesTitle)
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", CommandName(c), n, line)
			}
		}
	}
	out.Stdout.Reset()
	Run(t.Context(), f, "list", "--help")
	if want := "   --cwd DIR        only sessions in the git worktree that contains DIR; if it\n                    is in none, in exactly that directory\n"; !strings.Contains(out.Stdout.String(), want) {
		t.Errorf("no\n%s in\n%s", want, out.Stdout.String())
	}
}

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

// docs/cli.md names every flag of every command, in its section, and no other. The common flags have a section of their own; the section of
// a command, and its help, name those that it takes.
func TestDocsNameEveryFlag(t *testing.T) {
	f, out := testEnv(t)
	text := Doc(t, "cli.md")
	var common []string
	for _, flag := range commonFlags() {
		common = append(common, FlagText(flag.Names()[0]))
	}
	if got := flagCells(section(text, "Common flags")); !slices.Equal(got, common) {
		t.Errorf("common flags: the document names %v, the code %v", got, common)
	}
	for _, c := range Leaves(NewApp(f).Commands) {
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
		var own, shared []string
		for _, flag := range FlagNames(c)[1:] { // without --help
			if slices.Contains(common, flag) {
				shared = append(shared, flag)
			} else {
				own = append(own, flag)
			}
		}
		got := flagCells(body)
		slices.Sort(got)
		slices.Sort(own)
		if !slices.Equal(got, own) {
			t.Errorf("%s: the document names %v, the code %v", name, got, own)
		}
		out.Stdout.Reset()
		Run(t.Context(), f, append(strings.Fields(name), "--help")...)
		_, inHelp, _ := strings.Cut(out.Stdout.String(), "COMMON FLAGS (see agentctl --help):\n   ")
		inHelp, _, _ = strings.Cut(inHelp, "\n")
		_, inDoc, _ := strings.Cut(body, "\n[Common flags](#common-flags): ")
		inDoc, _, _ = strings.Cut(strings.ReplaceAll(inDoc, "`", ""), ".\n")
		if want := strings.Join(shared, ", "); inHelp != want || inDoc != want {
			t.Errorf("%s takes the common flags %s; the help names %s, the document %s", name, want, inHelp, inDoc)
		}
	}
}

// flagCells are the flags of the tables in text.
func flagCells(text string) (flags []string) {
	for _, cell := range firstCells(text) {
		if flag, _, _ := strings.Cut(cell, " "); strings.HasPrefix(flag, "-") {
			flags = append(flags, flag)
		}
	}
	return flags
}

// The document's exit codes are those of exit.go.
func TestDocsNameEveryExitCode(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "exit.go", nil, 0)
	must.Do(t, err)
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
	must.Do(t, os.WriteFile(path, []byte(m[1]), 0o600))
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
	must.Do(t, os.Mkdir(dir+"/agentctl", 0o755))
	text := strings.ReplaceAll(m[1], "opencode ", "#opencode ") // the made-up world has two agents
	must.Do(t, os.WriteFile(dir+"/agentctl/config.toml", []byte(text), 0o600))
	f, _ := testEnv(t)
	plain, _, err := f.Settings(false)
	must.Do(t, err)
	got, _, err := Setenv(f, "XDG_CONFIG_HOME", dir).Settings(false)
	must.Do(t, err)
	if len(got.Homes) != 2 || fmt.Sprint(got.Since, got.Color, got.Strict) != fmt.Sprint(plain.Since, plain.Color, plain.Strict) {
		t.Errorf("got %+v, default %+v", got, plain)
	}
}
