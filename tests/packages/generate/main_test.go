package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"agentctl/internal/cmd"
	"agentctl/internal/cmd/help"
	"agentctl/internal/cmdutil"
	"agentctl/internal/manual"
	"agentctl/tests/cmdtest"
)

// Each command has a page. Its synopsis is that of --help, with the names under which the command is known too.
func TestEveryCommandHasAPage(t *testing.T) {
	f, _ := cmdtest.New(t)
	app := cmdutil.NewApp(f, cmd.Verbs())
	pages := help.Pages(app)
	also := regexp.MustCompile(`(?m) +also: .*$`)
	for _, c := range cmdutil.Leaves(app.Commands) {
		name := cmdutil.CommandName(c)
		p, ok := manual.Find(pages, name)
		if !ok {
			t.Errorf("%s has no page", name)
			continue
		}
		text := p.Text(100)
		_, synopsis, _ := strings.Cut(text, "SYNOPSIS\n")
		synopsis, _, _ = strings.Cut(synopsis, "\n\n")
		got := strings.Join(strings.Fields(also.ReplaceAllString(synopsis, "")), " ")
		if want := strings.Join(strings.Fields(c.UsageText), " "); got != want {
			t.Errorf("%s: the synopsis is %q in docs/cli.md, %q in --help", name, got, want)
		}
		if !strings.Contains(strings.Join(strings.Fields(text), " "), c.Usage) {
			t.Errorf("%s: no %q", name, c.Usage)
		}
	}
}

// The flags of a command are the same in the program, in --help, in its page as text and in man(7). A test of internal/cmd compares
// docs/cli.md.
func TestFlagsAreTheSame(t *testing.T) {
	f, out := cmdtest.New(t)
	app := cmdutil.NewApp(f, cmd.Verbs())
	pages := help.Pages(app)
	for _, c := range cmdutil.Leaves(app.Commands) {
		name := cmdutil.CommandName(c)
		p, ok := manual.Find(pages, name)
		if !ok {
			t.Fatalf("%s has no page", name)
		}
		out.Stdout.Reset()
		cmd.Run(t.Context(), f, append(strings.Fields(name), "--help")...)
		man := strings.NewReplacer(`\fB`, "", `\fP`, "", `\-`, "-").Replace(p.Man("1", "2026-01-31"))
		want := append(cmdutil.FlagNames(c), "-h")
		for place, got := range map[string][]string{
			"--help":   flagsIn(out.Stdout.String(), "OPTIONS:", "   "),
			"its page": append(flagsIn(p.Text(1000), "OPTIONS", "    "), "--help", "-h"),
			"man(7)":   append(flagsIn(strings.ReplaceAll(man, "\n.TP\n", "\n.TP "), ".SH OPTIONS", ".TP "), "--help", "-h"),
		} {
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s has the flags %q, the program %q", name, place, got, want)
			}
		}
	}
}

// flagsIn returns the flags of a section, each of which follows this text on a line.
func flagsIn(text, section, before string) (flags []string) {
	_, body, _ := strings.Cut("\n"+text, "\n"+section+"\n")
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, ".SH") || section[0] != '.' && unicode.IsUpper(rune(line[0])) {
			break // the next section
		}
		names, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), before+"-")
		if !ok {
			continue
		}
		names, _, _ = strings.Cut("-"+names, "  ") // before the description
		for name := range strings.SplitSeq(names, ", ") {
			name, _, _ = strings.Cut(name, " ")
			flags = append(flags, name)
		}
	}
	return flags
}
