package cli

import (
	"os/exec"
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	for words, want := range map[string]string{
		"":                       strings.Join(visibleVerbs(), " "),
		"li":                     "list",
		"list --st":              "--status",
		"list --status ":         "running waiting idle stopped unknown interrupted error completed",
		"list --status s":        "stopped",
		"list --status=s":        "--status=stopped",
		"list --status idle,":    "idle,running idle,waiting idle,stopped idle,unknown idle,interrupted idle,error idle,completed",
		"list --status=idle,r":   "--status=idle,running",
		"list --adapter codex,":  "codex,claude-code",
		"launch --adapter c":     "claude-code codex",
		"list --group g":         "g-1 g-2",
		"stop --group=":          "--group=g-1 --group=g-2",
		"list --adapter c":       "claude-code codex",
		"ls --since 3":           "30d",
		"list --cwd ":            "",
		"list ":                  "",
		"status aaaa":            "aaaaaaaa-1 aaaaaaaa-2",
		"show --json c":          "cccccccc@/w/a cccccccc@/w/b",
		"peek aaaa":              "aaaaaaaa-1 aaaaaaaa-2",
		"logs -f -n 5 c":         "cccccccc@/w/a cccccccc@/w/b",
		"logs --fo":              "--follow",
		"stop ":                  "aaaaaaaa-1",
		"stop aaaaaaaa-1 ":       "aaaaaaaa-1",
		"wait ":                  "aaaaaaaa-1",
		"wait --until i":         "idle",
		"resume ":                "aaaaaaaa-2 cccccccc@/w/a cccccccc@/w/b",
		"resume c":               "cccccccc@/w/a cccccccc@/w/b",
		"resume --model m c":     "cccccccc@/w/a cccccccc@/w/b",
		"resume cccccccc ":       "",
		"launch c":               "claude-code codex",
		"launch codex ":          "",
		"launch --permissions e": "edit",
		"status --adapter codex": "codex",
		"status --al":            "--alive --all-users --all-hosts",
		"status -- --al":         "",
		"completion ":            "bash zsh fish powershell",
		"schema ":                "config",
		"worktree ":              "list clean",
		"worktree clean --del":   "--delete-branch",
		"hooks run pre-c":        "pre-commit",
		"hooks run pre-commit ":  "",
		"help li":                "list",
		"help worktree c":        "clean",
		"help --no-pager lo":     "logs lock locks",
		"help status ":           "",
		"help --no":              "--no-pager",
		"worktree nonsense x":    "",
		"nonsense x":             "",
		"__complete x":           "",
	} {
		f, out := testEnv(t)
		codex := f.Adapters[1].(Stub)
		codex.Records[2].Branch, codex.Records[3].Branch = "try/g-1/a", "try/g-2/b"
		if got := Run(t.Context(), f, append([]string{"__complete", "fish"}, strings.Split(words, " ")...)...); got != 0 || out.Stderr.Len() > 0 {
			t.Errorf("%q: exit %d, %q", words, got, out.Stderr.String())
		}
		var got []string
		for record := range strings.SplitSeq(strings.TrimSuffix(out.Stdout.String(), "\x00"), "\x00") {
			word, _, _ := strings.Cut(record, "\t")
			got = append(got, word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", words, got, want)
		}
	}
	for shell, want := range map[string]string{
		"fish": "aaaaaaaa-2\tcodex stopped: title of aaaaaaaa-2\x00",
		"zsh":  "aaaaaaaa-2\x00codex stopped: title of aaaaaaaa-2\x00",
	} {
		f, out := testEnv(t)
		if Run(t.Context(), f, "__complete", shell, "status", "aaaaaaaa-2"); out.Stdout.String() != want {
			t.Errorf("%s: %q, want %q", shell, out.Stdout.String(), want)
		}
	}
}

// Bash is given what it is to insert in place of the end of the line that readline replaces.
func TestCompleteBash(t *testing.T) {
	for line, want := range map[[2]string]string{
		{"agentctl status aaaaaaaa-2", "aaaaaaaa-2"}:                "aaaaaaaa-2\x00codex stopped: title of aaaaaaaa-2\x00",
		{"agentctl status 'aaaaaaaa-2", "aaaaaaaa-2"}:               "aaaaaaaa-2\x00codex stopped: title of aaaaaaaa-2\x00",
		{"agentctl status cccccccc@/w/a", "/w/a"}:                   "/w/a\x00codex stopped: title of cccccccc\x00",
		{`agentctl status "cccccccc"@`, `@`}:                        "\\@/w/a\x00codex stopped: title of cccccccc\x00\\@/w/b\x00codex stopped: title of cccccccc\x00",
		{"agentctl list --status=run", "run"}:                       "running\x00\x00",
		{"agentctl  list   --status idle,run", "idle,run"}:          "idle\\,running\x00\x00",
		{"agentctl list --status running ", ""}:                     "",
		{"agentctl", "agentctl"}:                                    "",
		{"agentctl list --sta", "something else"}:                   "",
		{"agentctl list --sta", "t list --sta"}:                     "",
		{"agentctl list --cwd 'a b' --until x --status w", "w"}:     "waiting\x00\x00",
		{`agentctl list --cwd "a \" b" --cwd a\ b --status w`, "w"}: "waiting\x00\x00",
		{"agentctl list --cwd 'it'\\''s' --status w", "w"}:          "waiting\x00\x00",
	} {
		f, out := testEnv(t)
		if Run(t.Context(), f, "__complete", "bash", line[0], line[1]); out.Stdout.String() != want {
			t.Errorf("%q: %q, want %q", line, out.Stdout.String(), want)
		}
	}
}

// visibleVerbs are the commands that people see.
func visibleVerbs() []string {
	var names []string
	for _, c := range NewApp(Env{}).Commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestCompleteWorktrees(t *testing.T) {
	f, out := InRepository(t)
	if Run(t.Context(), f, "__complete", "zsh", "worktree", "clean", ""); !strings.HasPrefix(out.Stdout.String(), "fix\x00") || strings.Count(out.Stdout.String(), "\x00") != 2 {
		t.Errorf("%q", out.Stdout.String())
	}
}

// The words come in one argument, and the answer has three texts for each candidate, none of them empty.
func TestCompletePowerShell(t *testing.T) {
	for typed, want := range map[string]string{
		"li":                  "list",
		"completion\npower":   "powershell",
		"list\n--status\nrun": "running",
		"list\n--nothing":     "",
	} {
		f, out := testEnv(t)
		Run(t.Context(), f, "__complete", "powershell", typed)
		records := strings.Split(out.Stdout.String(), "\x00")
		if want == "" && len(records) == 1 {
			continue
		}
		if len(records)%3 != 1 || records[0] != want || records[1] != want || records[2] == "" {
			t.Errorf("%q: %q, want %s", typed, records, want)
		}
	}
}

// Whatever is quoted means itself to bash, and to us when it is typed.
func FuzzBashQuoted(f *testing.F) {
	for _, seed := range []string{"", "x$(touch pw)y", "`a`", "a b  c", "'\"\\", "~!^{},;&|<>()*?[]#=:@%", "é日本", "-x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.IndexFunc(text, unprintable) >= 0 {
			return
		}
		for _, quote := range []struct {
			begin, end string
			open       byte
		}{{"", "", 0}, {"'", "'", '\''}, {`"`, `"`, '"'}} {
			typed := quote.begin + bashQuoted(text, quote.open)
			words, start, open := bashWords("agentctl " + typed)
			if len(words) != 2 || words[1] != text || start != 9 || open != quote.open {
				t.Errorf("%q in %q: typed %s, read %q from %d on, quote %q", text, quote.begin, typed, words, start, open)
			}
			out, err := exec.Command("bash", "-c", "printf '%s.' x"+typed+quote.end).Output()
			if err != nil || string(out) != "x"+text+"." {
				t.Errorf("%q in %q: bash reads %s as %q, %v", text, quote.begin, typed, out, err)
			}
		}
	})
}

func TestOutputFollowsSchema(t *testing.T) {
	for args, name := range map[string]string{
		"list --json":                        "sessions",
		"list -a --since all --json":         "sessions",
		"list --status stopped -n1 --json":   "sessions",
		"list --group none --json":           "sessions",
		"status aaaaaaaa-1 --json":           "session",
		"status pid:20 --json --explain":     "session",
		"status aaaaaaaa-2 --json --explain": "session",
		"current --json":                     "session",
		"version --json":                     "version",
		"doctor --json":                      "doctor",
		"usage --json":                       "usage",
		"usage --limits --json":              "limits",
		"du --json":                          "du",
	} {
		f, out := testEnv(t)
		if got := Run(t.Context(), f, strings.Fields(args)...); got != 0 {
			t.Errorf("%s: exit %d", args, got)
		}
		CheckSchema(t, name, out.Stdout.String())
	}
	for _, args := range []string{"list --json x", "status --json nothing", "status --json cccccccc"} {
		f, out := testEnv(t)
		Run(t.Context(), f, strings.Fields(args)...)
		CheckSchema(t, "error", out.Stderr.String())
	}
}
