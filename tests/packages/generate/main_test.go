package main

import (
	"regexp"
	"strings"
	"testing"

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
