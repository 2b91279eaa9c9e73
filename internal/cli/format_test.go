package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"agentctl/internal/output"
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
		env, out := testEnv(t)
		if strings.HasPrefix(args, "worktree") {
			env, out = gitEnv(t)
		}
		if got := Run(t.Context(), env, strings.Fields(args)...); got != 0 || out.stdout.String() != want {
			t.Errorf("%s: exit %d, %q, want %q; %s", args, got, out.stdout.String(), want, out.stderr.String())
		}
	}
	for _, verb := range []string{"list", "status aaaaaaaa-2", "wait aaaaaaaa-2", "locks", "worktree list"} {
		env, out := gitEnv(t)
		if !strings.HasPrefix(verb, "worktree") {
			env, out = testEnv(t)
		}
		Run(t.Context(), env, append(strings.Fields(verb), "--json")...)
		want := out.stdout.String()
		out.stdout.Reset()
		if got := Run(t.Context(), env, append(strings.Fields(verb), "--format", "json")...); got != 0 || want == "" || out.stdout.String() != want {
			t.Errorf("%s --format json: exit %d, %q, want %q", verb, got, out.stdout.String(), want)
		}
		for format, says := range map[string]string{"id": "contains no field", "table {{.id}}": "not a table", "{{.nope}}": `no field "nope"`} {
			out.stderr.Reset()
			if got := Run(t.Context(), env, append(strings.Fields(verb), "--format", format)...); got != exitUsage || !strings.Contains(out.stderr.String(), says) {
				t.Errorf("%s --format %s: exit %d, %s", verb, format, got, out.stderr.String())
			}
		}
		if got := Run(t.Context(), env, append(strings.Fields(verb), "--format", "{{.nope}}", "--json")...); got != exitUsage {
			t.Errorf("%s --format --json: exit %d", verb, got)
		}
	}
	for format, says := range map[string]string{"id": "contains no field", "{{.nope}}": `no field "nope"`, "{{.session.nope}}": `no field "nope"`} {
		env, out := testEnv(t)
		if got := Run(t.Context(), env, "events", "--format", format); got != exitUsage || !strings.Contains(out.stderr.String(), says) {
			t.Errorf("events --format %s: exit %d, %s", format, got, out.stderr.String())
		}
	}
}

// The example in the help of each --format is a template of the objects that this command prints.
func TestFormatExamples(t *testing.T) {
	objects := map[string]any{
		"list": output.Session{}, "status": output.Session{}, "wait": output.Session{},
		"events": output.Event{}, "locks": output.Lock{}, "worktree list": output.Worktree{},
	}
	env, _ := testEnv(t)
	for _, c := range leaves(newApp(env, verbs()).Commands) {
		i := slices.IndexFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "format") })
		if i < 0 {
			continue
		}
		usage := c.Flags[i].(*cli.StringFlag).Usage
		_, example, _ := strings.Cut(usage, "'")
		example, _, _ = strings.Cut(example, "'")
		if _, err := output.ParseFormat(example, env.Now, objects[verbOf(c)]); err != nil {
			t.Errorf("%s: %q: %v", verbOf(c), usage, err)
		}
	}
}
