package cli

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
)

func TestArrange(t *testing.T) {
	f, _ := testEnv(t)
	app := NewApp(f)
	for in, want := range map[string]string{
		"":                             "--help",
		"-h":                           "--help",
		"help status":                  "help -- status",
		"help list -h":                 "help --help -- help",
		"list":                         "list --",
		"ls":                           "list --",
		"status ID --json":             "status --json -- ID",
		"status ID --adapter codex -h": "status --adapter=codex --help --",
		"list -aqn5":                   "list --all --quiet -n=5 --",
		"list -n=5 -a":                 "list -n=5 --all --",
		"list -qn 5":                   "list --quiet -n=5 --",
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
		got, err := ArrangeArgs(app, strings.Fields(in))
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
		app := NewApp(env)
		words := strings.Split(line, " ")
		got, err := ArrangeArgs(app, words)
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

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-20T00:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	if b := BuildInfo("", info); b.Version != "v0.1.0" || b.Revision != "abc" || !b.Modified || b.BuiltFrom == "" {
		t.Errorf("%+v", b)
	}
	if text := BuildInfo("", info).Commit(); text != "commit abc with changes, " {
		t.Error(text)
	}
	if b := BuildInfo("v1.2.3", info); b.Version != "v1.2.3" {
		t.Errorf("the stamp does not win: %+v", b)
	}
	if b := BuildInfo("", nil); b.Version != "(devel)" {
		t.Errorf("%+v", b)
	}
	f, out := testEnv(t)
	f.Version = "v1.2.3"
	if Run(t.Context(), f, "version"); !strings.HasPrefix(out.Stdout.String(), "agentctl v1.2.3 (go1.") {
		t.Error(out.Stdout.String())
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "30m": 30 * time.Minute, "2d": 48 * time.Hour, "1w": 168 * time.Hour,
		"0": -1, "0s": -1, "0d": -1, "-1s": -1, "-2d": -1, "5": -1, "soon": -1, "1d12h": -1, "d": -1, "": -1, "99999999d": -1,
	} {
		var got time.Duration
		err := (&durationValue{to: &got}).Set(text)
		if want < 0 {
			if err == nil || got != 0 {
				t.Errorf("%q is taken for %s", text, got)
			}
		} else if err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	forever := time.Second
	if err := (&durationValue{to: &forever, zeroAllowed: true}).Set("0"); err != nil || forever != 0 {
		t.Errorf("0, of a limit: %s, %v", forever, err)
	}
	for d, want := range map[time.Duration]string{0: "", time.Minute: "1m", 10 * time.Second: "10s", 90 * time.Second: "1m30s", time.Hour: "1h0m"} {
		if got := (&durationValue{to: &d}).String(); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

// One ID in several places is told apart by the directory, and in two homes that have the same one by the home. A directory that is
// the home of another one means both.
func TestArgumentsFor(t *testing.T) {
	session := func(id, dir, home string) object.Session {
		return object.NewSession(discover.Session{Record: &discover.Record{ID: id, Dir: dir, Home: home}})
	}
	list := []object.Session{
		session("a", "/w", "/h"), session("b", "/w", "/h"), session("b", "/x", "/h"), session("c", "/w", "/h"), session("c", "/w", "/other"), session("", "/w", "/h"),
		session("d", "/h", "/other"), session("d", "/w", "/h"),
	}
	if got, want := ArgumentsFor(list), []string{"a", "b@/w", "b@/x", "c@/h", "c@/other", "", "d@/other", "d@/w"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
