package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestArrange(t *testing.T) {
	f, _ := testEnv(t)
	app := NewApp(f, Verbs())
	for in, want := range map[string]string{
		"":                             "--help",
		"-h":                           "--help",
		"help status":                  "help -- status",
		"help list -h":                 "help --help -- help",
		"list":                         "list --",
		"ls":                           "list --",
		"status ID --json":             "status --json -- ID",
		"status ID --adapter codex -h": "status --adapter=codex --help --",
		"list -aqn5":                   "list -a -q -n=5 --",
		"list -n=5 -a":                 "list -n=5 -a --",
		"list -qn 5":                   "list -q -n=5 --",
		"list -n -5":                   "list -n=-5 --",
		"list --cwd --json":            "list --cwd=--json --",
		"status -- --json -x":          "status -- --json -x",
		"status a -- --":               "status -- a --",
		"status -":                     "status -- -",
		"list --cwd=a=b --all=false":   "list --cwd=a=b --all=false --",
		"version --json":               "version --json --",
		"--version --json":             "version --json --",
		"worktree":                     "worktree --help",
		"worktree -h":                  "worktree --help",
		"help worktree clean":          "help -- worktree clean",
		"worktree ls a --json":         "worktree list --json -- a",
		"worktree rm a --group=b -- c": "worktree clean --group=b -- a c",
		"__complete list --sta":        "__complete list --sta",
		"lock . -- a b":                "lock -- . -- a b",
		"lock . --":                    "lock -- . --",
	} {
		got, err := ArrangeArgs(app, VerbFirst(strings.Fields(in)))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %s, %v; want %s", in, strings.Join(got, " "), err, want)
		}
	}
}

// No word is lost, none is made up, and what is in order stays as it is.
func FuzzArrange(f *testing.F) {
	f.Add("list -a --since 3d -n5 x")
	f.Add("status ID --json -- --alive")
	f.Add("list --adapter=codex --cwd")
	f.Add("worktree clean a --force -- b")
	f.Add("help worktree")
	f.Fuzz(func(t *testing.T, line string) {
		env, _ := testEnv(t)
		app := NewApp(env, Verbs())
		words := strings.Split(line, " ")
		got, err := ArrangeArgs(app, VerbFirst(words))
		if err != nil || len(got) < 2 || got[0] == "__complete" {
			return
		}
		again, err := ArrangeArgs(app, got)
		if err != nil || !slices.Equal(again, got) {
			t.Errorf("%q becomes %q, and that %q, %v", words, got, again, err)
		}
		end := slices.Index(got, "--")
		if end < 0 && got[len(got)-1] == "--help" { // of commands that stand for those below them
			return
		}
		first := 1
		if verb := app.Command(got[0]); len(verb.Subcommands) > 0 {
			first = 2
		}
		for _, flag := range got[min(first, end):end] {
			if !strings.HasPrefix(flag, "-") || flag == "-" {
				t.Errorf("%q: %q among the flags of %q", words, flag, got)
			}
		}
		if words[0] == "help" {
			return
		}
		rest := words[1:]
		for _, arg := range got[end+1:] {
			i := slices.Index(rest, arg)
			if i < 0 {
				t.Fatalf("%q: %q is made up or out of order in %q", words, arg, got)
			}
			rest = rest[i+1:]
		}
	})
}
