package realagents

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestClaudeProfileThatSharesItsStore: a session that lives in a profile is the one that is stored in ~/.claude if the profile leads to
// the same file: by a link to all projects or to one, or by another name of the transcript.
func TestClaudeProfileThatSharesItsStore(t *testing.T) {
	for _, shared := range []string{"projects", "project", "transcript", "sessions"} {
		t.Run(shared, func(t *testing.T) {
			w := world.New(t)
			a := w.Claude(install.ClaudeCurrent)
			c := agentctlIn(t, w).as(a)
			id := c.launched("claude-code", "-p", "the first turn")
			c.expect([]string{row(id, 0, "stopped completed")}, "-a")
			home, profile := filepath.Join(w.Home, ".claude"), filepath.Join(w.Home, ".claude-work")
			path := claudeTranscript(t, w, id)
			rel, err := filepath.Rel(home, path)
			link := map[string]func() error{
				"projects":   func() error { return os.Symlink(filepath.Join(home, "projects"), filepath.Join(profile, "projects")) },
				"project":    func() error { return os.Symlink(filepath.Dir(path), filepath.Join(profile, filepath.Dir(rel))) },
				"transcript": func() error { return os.Link(path, filepath.Join(profile, rel)) },
				"sessions": func() error {
					return errors.Join(
						os.Symlink(filepath.Join(home, "projects"), filepath.Join(profile, "projects")),
						os.Symlink(filepath.Join(home, "sessions"), filepath.Join(profile, "sessions")),
					)
				},
			}[shared]
			below := map[string]string{"project": "projects", "transcript": filepath.Dir(rel)}[shared]
			if err = errors.Join(err, os.MkdirAll(filepath.Join(profile, below), 0o700)); err == nil {
				err = link()
			}
			if err != nil {
				t.Fatal(err)
			}
			config, err := os.ReadFile(filepath.Join(w.Home, ".claude.json"))
			if err = errors.Join(err, os.WriteFile(filepath.Join(profile, ".claude.json"), config, 0o600)); err != nil {
				t.Fatal(err)
			}
			tui := a.With("CLAUDE_CONFIG_DIR="+profile).TUI("--resume", id)
			tui.Submit("the second turn [[hang @end]]")
			w.WaitCall("the second turn", 0)
			want := []string{row(id, tui.PID(), "running")}
			for _, args := range [][]string{nil, {"-a"}, {"-a", "--home", profile}} {
				if s := c.expect(want, args...); s[0].Home != home && args == nil {
					t.Errorf("it is shown in %s", s[0].Home)
				}
			}
			for _, q := range []struct {
				code int
				args []string
			}{
				{0, []string{"status", "--alive", id}},
				{0, []string{"status", "--alive", id + "@" + home}},
				{0, []string{"status", "--alive", id + "@" + profile}},
				{5, []string{"resume", id + "@" + home, "another turn"}},
				{5, []string{"resume", id, "another turn"}},
				{5, []string{"guard", a.Dir()}},
			} {
				if out, errs, code := c.run(q.args...); code != q.code {
					t.Errorf("%q: exit code %d, %s%s", q.args, code, out, errs)
				}
			}
			w.Model.Release("end")
			c.expect([]string{row(id, tui.PID(), "idle")})
			for _, args := range [][]string{{"send", id, "a message [[text received]]"}, {"stop", id}} {
				if out, errs, code := c.run(args...); code != 0 {
					t.Errorf("%q: exit code %d, %s%s", args, code, out, errs)
				}
			}
			if living(tui.PID()) {
				t.Error("it is alive after stop")
			}
			c.expect([]string{row(id, 0, "stopped completed")}, "-a")
		})
	}
}
