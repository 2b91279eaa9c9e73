package manual

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"agentctl/docs"
)

// all is the manual of the commands that have a section in docs/cli.md, which begins with a synopsis.
func all(t *testing.T) []Page {
	t.Helper()
	var commands []Command
	for _, s := range parse(docs.CommandLine, nil) {
		if s.Title != "" && len(s.Blocks) > 0 && strings.HasPrefix(s.Blocks[0], "```\n"+Program+" "+s.Title) {
			commands = append(commands, Command{Name: s.Title, Usage: "does something", Flags: []string{"--home"}})
		}
	}
	pages := Pages("shows something", commands)
	if len(pages) < 30 {
		t.Fatalf("%d pages", len(pages))
	}
	return pages
}

// leftOver matches the Markdown of a text.
var leftOver = regexp.MustCompile("`[a-z]|\\*\\*|\\]\\(|<a id|<kbd|\\\\\\||^#")

// Pages have no Markdown, and no lines that are too long, unless a line of code is.
func TestText(t *testing.T) {
	for _, p := range all(t) {
		for _, width := range []int{40, 72, 100} {
			for line := range strings.Lines(p.Text(width)) {
				line = strings.TrimSuffix(line, "\n")
				if m := leftOver.FindString(line); m != "" && !strings.HasPrefix(line, "        ") {
					t.Errorf("%s: %q in %q", p.Name, m, line)
				}
				isCode := strings.Contains(docs.CommandLine, "\n"+strings.TrimSpace(line))
				if utf8.RuneCountInString(line) > width && !isCode {
					t.Errorf("%s: more than %d columns: %q", p.Name, width, line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("%s: blanks at the end of %q", p.Name, line)
				}
			}
		}
	}
}

// Every word of a section is in its page, but for the headings of tables.
func TestPagesAreWhole(t *testing.T) {
	pages := all(t)
	for _, s := range parse(docs.CommandLine, nil) {
		p, ok := Find(pages, s.Title)
		if !ok {
			p = pages[0]
		}
		text, markdown := p.Text(100), fmt.Sprint(p.Sections)
		blocks := slices.DeleteFunc(slices.Clone(s.Blocks), func(b string) bool { return strings.HasPrefix(b, "Common flags: ") })
		for _, w := range regexp.MustCompile(`[A-Za-z]{4,}`).FindAllString(strings.Join(blocks, "\n"), -1) {
			if known := slices.Contains([]string{"flag", "meaning", "means", "toml"}, w); !known && (!strings.Contains(text, w) || !strings.Contains(markdown, w)) {
				t.Errorf("%s: no %q", p.Name, w)
			}
		}
	}
}

func TestPage(t *testing.T) {
	blocks := parse("# x\n```\nagentctl x [-y]\n```\n\nDoes *one* thing to `a\\b`: see [list](#list) and [hooks](#hooks-run),\n"+
		"[RE2](https://example.com/x). **With `--y`** it ends with\n3. of them.\n\n- `.x` is\n  not -y\n  1. one\n- two\n\n"+
		"| flag | meaning |\n|---|---|\n| `--y A\\|B`, `-y` | it's |\n\n"+
		"| key | does | undone by |\n|---|---|---|\n| <kbd>x</kbd> | one | <kbd>y</kbd> |\n\n```sh\nagentctl x -y\n\nagentctl x\n```\n", []string{"list", "hooks run"})[0].Blocks
	p := newPage("agentctl-x", "do a thing", arrange(blocks))
	want := `NAME
    agentctl-x - do a thing

SYNOPSIS
        agentctl x [-y]

DESCRIPTION
    Does one thing to a\b: see agentctl-list(1) and
    agentctl-hooks-run(1), RE2 <https://example.com/x>.
    With --y it ends with 3. of them.

    -  .x is not -y
       1. one
    -  two

    x       does one; undone by y

OPTIONS
    --y A|B, -y
            it's

EXAMPLES
        agentctl x -y

        agentctl x

EXIT STATUS
    agentctl(1) lists the exit codes of all commands.
`
	if got := p.Text(56); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := p.Sections[3]; got.Title != "Options" || got.Blocks[0] != "`--y A|B`, `-y`\n: it's" {
		t.Errorf("got %q", got)
	}
}
