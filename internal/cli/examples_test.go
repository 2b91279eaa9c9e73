package cli

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

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
	check(NewApp(f, Verbs()).Commands)
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
	if _, err := ArrangeArgs(NewApp(env, Verbs()), shellWords(args)); err != nil {
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
