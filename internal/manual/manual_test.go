package manual

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"agentctl/docs"
)

// all is the manual of the commands that have a section in docs/cli.md, which begins with a synopsis.
func all(t *testing.T) []Page {
	t.Helper()
	var commands []Command
	for _, s := range parse(docs.CommandLine) {
		if s.title != "" && len(s.blocks) > 0 && s.blocks[0].kind == code && strings.HasPrefix(s.blocks[0].lines[0], Program+" "+s.title) {
			commands = append(commands, Command{Name: s.title, Usage: "does something", Flags: []string{"--home"}})
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

// Pages have no Markdown, and no lines that are too long, unless a word or a line of code is.
func TestText(t *testing.T) {
	for _, p := range all(t) {
		for _, width := range []int{40, 72, 100} {
			for line := range strings.Lines(p.Text(width)) {
				line = strings.TrimSuffix(line, "\n")
				if m := leftOver.FindString(line); m != "" && !strings.HasPrefix(line, "        ") {
					t.Errorf("%s: %q in %q", p.Name, m, line)
				}
				isCode := strings.Contains(docs.CommandLine, "\n"+strings.TrimSpace(line)) || !strings.Contains(strings.TrimSpace(line), " ")
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

// Every word of a section is in its page, as text and in man(7).
func TestPagesAreWhole(t *testing.T) {
	pages := all(t)
	word := regexp.MustCompile(`[A-Za-z]{4,}`)
	for _, s := range parse(docs.CommandLine) {
		p, ok := Find(pages, s.title)
		if !ok {
			p = pages[0]
		}
		text, man := p.Text(100), regexp.MustCompile(`\\f[BIP]`).ReplaceAllString(p.Man("1", "2026-01-31"), "")
		for _, b := range s.blocks {
			texts := append([]string{b.text}, b.lines...)
			for _, row := range b.rows {
				texts = append(texts, row...)
			}
			for _, source := range texts {
				for _, w := range word.FindAllString(plain(p.spans(source)), -1) {
					if !strings.Contains(text, w) || !strings.Contains(man, w) {
						t.Errorf("%s: no %q", p.Name, w)
					}
				}
			}
		}
	}
}

func TestMan(t *testing.T) {
	p := Page{Name: "agentctl-x", usage: "do a thing", markup: newMarkup([]string{"list", "hooks run"}), sections: arrange(parse("```\nagentctl x [-y]\n```\n\n" +
		"Does *one* thing to `a\\b`: see [list](#list) and [hooks](#hooks-run),\n[RE2](https://example.com/x). " +
		"A line does not end with the dot of a sentence that is followed by more. So.\n\n" +
		"- `.x` is\n  not -y\n  1. one\n- two\n\n| flag | meaning |\n|---|---|\n| `--y A\\|B`, `-y` | it's |\n\n" +
		"| key | does | undone by |\n|---|---|---|\n| <kbd>x</kbd> | one | <kbd>y</kbd> |\n\n```sh\n.agentctl x -y\n```\n")[0].blocks)}
	want := `.TH AGENTCTL\-X 1 "2026-01-31" "agentctl 1.2.3"
.SH NAME
agentctl\-x \- do a thing
.SH SYNOPSIS
.RS 4
.EX
agentctl x [\-y]
.EE
.RE
.SH DESCRIPTION
Does \fIone\fP thing to \fBa\eb\fP: see \fBagentctl\-list\fP(1) and
\fBagentctl\-hooks\-run\fP(1), RE2 <https://example.com/x>. A line does not
end with the dot of a sentence that is followed by more. So.
.IP \(bu 3
\fB.x\fP is not \-y
.RS
.IP 1. 3
one
.RE
.IP \(bu 3
two
.TP
\fBx\fP
\fIdoes\fP one; \fIundone by\fP \fBy\fP
.SH OPTIONS
.TP
\fB\-\-y A|B\fP, \fB\-y\fP
it\(aqs
.SH EXAMPLES
.RS 4
.EX
\&.agentctl x \-y
.EE
.RE
.SH EXIT STATUS
\fBagentctl\fP(1) lists the exit codes of all commands.
`
	if got := p.Man("1.2.3", "2026-01-31"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
