package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
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
	app := NewApp(f, Verbs())
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
	for _, c := range Leaves(NewApp(f, Verbs()).Commands) {
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
