package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

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

// The help of every visible command ends with two or three examples, and they parse.
func TestExamples(t *testing.T) {
	f, out := testEnv(t)
	var check func(commands []*cli.Command)
	check = func(commands []*cli.Command) {
		for _, c := range commands {
			if c.Hidden {
				continue
			}
			verb := CommandName(c)
			out.Stdout.Reset()
			Run(t.Context(), f, append(strings.Fields(verb), "--help")...)
			_, section, ok := strings.Cut(out.Stdout.String(), "\nEXAMPLES:\n")
			lines := strings.Split(strings.TrimSpace(section), "\n")
			if !ok || len(lines) < 2 || len(lines) > 3 {
				t.Errorf("%s: %d examples in\n%s", verb, len(lines), out.Stdout.String())
				continue
			}
			for _, line := range lines {
				parses(t, f, verb, strings.TrimSpace(line))
			}
			check(c.Subcommands)
		}
	}
	check(NewApp(f).Commands)
	out.Stdout.Reset()
	if Run(t.Context(), f, "--help"); !strings.Contains(out.Stdout.String(), "agentctl --version") {
		t.Errorf("no --version in\n%s", out.Stdout.String())
	}
}

// parses fails the test unless an example is a command line of that verb without an unknown flag or word.
func parses(t *testing.T, env Env, verb, line string) {
	t.Helper()
	_, args, found := strings.Cut(line, "agentctl ")
	for _, end := range []string{" | ", " > ", ")"} {
		args, _, _ = strings.Cut(args, end)
	}
	if !found || !strings.HasPrefix(args+" ", verb+" ") {
		t.Errorf("%q is not an example of %s", line, verb)
	}
	if _, err := ArrangeArgs(NewApp(env), shellWords(args)); err != nil {
		t.Errorf("%q: %v", line, err)
	}
}

// shellWords splits a line as a shell does that knows quotes only.
func shellWords(line string) []string {
	var words []string
	var quote rune
	word, begun := "", false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	if begun {
		words = append(words, word)
	}
	return words
}
