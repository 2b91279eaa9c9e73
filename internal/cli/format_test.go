package cli

import (
	"regexp"
	"strings"
	"testing"

	"agentctl/internal/object"
	"agentctl/internal/render"
)

// Templates are for every command that prints objects; the word json asks for what --json prints.
func TestFormats(t *testing.T) {
	for args, want := range map[string]string{
		"list --format {{.id}}":                                "aaaaaaaa-1\n\n",
		"status aaaaaaaa-2 --format {{.id}}/{{.outcome}}":      "aaaaaaaa-2/completed\n",
		"status pid:10 --format {{.pid}}":                      "10\n",
		"wait aaaaaaaa-2 --format {{.status}}":                 "stopped\n",
		"locks --format {{.adapter}}/{{.type}}/{{.expiresAt}}": "codex/session/\n",
		"worktree list --format {{.main}}":                     "true\nfalse\n",
	} {
		f, out := testEnv(t)
		if strings.HasPrefix(args, "worktree") {
			f, out = InRepository(t)
		}
		if got := Run(t.Context(), f, strings.Fields(args)...); got != 0 || out.Stdout.String() != want {
			t.Errorf("%s: exit %d, %q, want %q; %s", args, got, out.Stdout.String(), want, out.Stderr.String())
		}
	}
	for _, verb := range []string{"list", "status aaaaaaaa-2", "wait aaaaaaaa-2", "locks", "worktree list"} {
		f, out := InRepository(t)
		if !strings.HasPrefix(verb, "worktree") {
			f, out = testEnv(t)
		}
		Run(t.Context(), f, append(strings.Fields(verb), "--json")...)
		want := out.Stdout.String()
		out.Stdout.Reset()
		if got := Run(t.Context(), f, append(strings.Fields(verb), "--format", "json")...); got != 0 || want == "" || out.Stdout.String() != want {
			t.Errorf("%s --format json: exit %d, %q, want %q", verb, got, out.Stdout.String(), want)
		}
		for format, says := range map[string]string{"id": "contains no field", "table {{.id}}": "not a table", "{{.nope}}": `no field "nope"`} {
			out.Stderr.Reset()
			if got := Run(t.Context(), f, append(strings.Fields(verb), "--format", format)...); got != ExitUsage || !strings.Contains(out.Stderr.String(), says) {
				t.Errorf("%s --format %s: exit %d, %s", verb, format, got, out.Stderr.String())
			}
		}
		if got := Run(t.Context(), f, append(strings.Fields(verb), "--format", "{{.nope}}", "--json")...); got != ExitUsage {
			t.Errorf("%s --format --json: exit %d", verb, got)
		}
	}
	for format, says := range map[string]string{"id": "contains no field", "{{.nope}}": `no field "nope"`, "{{.session.nope}}": `no field "nope"`} {
		f, out := testEnv(t)
		if got := Run(t.Context(), f, "events", "--format", format); got != ExitUsage || !strings.Contains(out.Stderr.String(), says) {
			t.Errorf("events --format %s: exit %d, %s", format, got, out.Stderr.String())
		}
	}
}

// The example in the help of --format is a template.
func TestFormatExample(t *testing.T) {
	f, out := testEnv(t)
	f.Width = maxWidth
	Run(t.Context(), f, "--help")
	m := regexp.MustCompile(`--format TEMPLATE +print each object by a Go TEMPLATE such as '(.*?)'`).FindStringSubmatch(out.Stdout.String())
	if m == nil {
		t.Fatalf("no example in\n%s", out.Stdout.String())
	}
	if _, err := render.ParseFormat(m[1], f.Now, object.Session{}); err != nil {
		t.Error(err)
	}
}
