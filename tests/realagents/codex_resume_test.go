package realagents

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// turnSettings are what a turn of Codex ran with.
type turnSettings struct {
	CWD, Model string
	Sandbox    struct {
		Type    string
		Network bool     `json:"network_access"`
		Roots   []string `json:"writable_roots"`
	} `json:"sandbox_policy"`
}

// lastSettings are those of the newest turn.
func lastSettings(t *testing.T, w *world.World, id string) turnSettings {
	t.Helper()
	var last turnSettings
	for _, line := range rolloutOf(t, w, id) {
		var r struct {
			Type    string
			Payload json.RawMessage
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Type == "turn_context" {
			last = turnSettings{}
			if err := json.Unmarshal(r.Payload, &last); err != nil {
				t.Fatal(err)
			}
		}
	}
	return last
}

// killed launches a session and kills it in the middle of its turn.
func (c agentctl) killed(args ...string) string {
	c.t.Helper()
	id := c.launched(append([]string{"codex", "--force"}, args...)...)
	pid := c.status(id).PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
	if !poll(func() bool { return !living(pid) }) {
		c.t.Fatal("it does not die")
	}
	return id
}

// TestCodexResume: what was killed in the middle of a turn goes on, with all that it had and nothing more, from anywhere.
func TestCodexResume(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		elsewhere := c
		elsewhere.dir = "/"
		for name, test := range map[string]struct {
			args []string
			want turnSettings
		}{
			"its own settings": {nil, settings("workspace-write", false)},
			"everything":       {[]string{"--permissions", "full"}, settings("danger-full-access", false)},
			"less":             {[]string{"--", "-s", "read-only"}, settings("read-only", false)},
			"more": {
				[]string{"--", "-s", "workspace-write", "-c", "sandbox_workspace_write.network_access=true", "--add-dir", w.Home},
				settings("workspace-write", true, w.Home),
			},
		} {
			prompt := "first of " + name + " [[hang]]"
			id := c.killed(append([]string{"-p", prompt, "--model", "gpt-5.5"}, test.args...)...)
			old := time.Now().AddDate(0, 0, -30)
			path := c.status(id).Path
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
			for i, message := range []string{"--help", "-x\n\"all\" [[text done]]", "again [[hang]]"} {
				if i > 0 {
					c.expect(nil)
				}
				if got := elsewhere.printed("resume", id, "--", message); got != id {
					t.Errorf("%s: resumed %s as %s", name, id, got)
				}
				if got := asked(t, w, id); got[len(got)-1] != message {
					t.Errorf("%s: asked was %q, stored is %q", name, message, got)
				}
				test.want.CWD, test.want.Model = a.Dir(), "gpt-5.5"
				if got := lastSettings(t, w, id); !same(got, test.want) {
					t.Errorf("%s: a resumed turn runs with %+v, want %+v", name, got, test.want)
				}
			}
			if out, errs, code := c.run("resume", id, "while it works"); code != 5 || out != "" {
				t.Errorf("%s: of a live session: exit code %d, %q\n%s", name, code, out, errs)
			}
			if _, errs, code := c.run("stop", id); code != 0 {
				t.Errorf("stop: exit code %d\n%s", code, errs)
			}
		}
	})
}

func settings(sandbox string, network bool, roots ...string) (s turnSettings) {
	s.Sandbox.Type, s.Sandbox.Network, s.Sandbox.Roots = sandbox, network, roots
	return s
}

func same(a, b turnSettings) bool {
	return a.CWD == b.CWD && a.Model == b.Model && a.Sandbox.Type == b.Sandbox.Type &&
		a.Sandbox.Network == b.Sandbox.Network && slices.Equal(a.Sandbox.Roots, b.Sandbox.Roots)
}

// TestCodexResumeNot: what cannot go on is said, and starts nothing.
func TestCodexResumeNot(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		gone := w.Dir("gone")
		a.In(gone).Run("in a directory that goes").Wait()
		lost := codexID(t, w, "in a directory that goes")
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		a.Run("put away").Wait()
		archived := codexID(t, w, "put away")
		if a.Version == install.CodexCurrent {
			a.Output("archive", archived)
		}
		for name, test := range map[string]struct {
			id, say string
			code    int
		}{
			"a directory that is gone": {lost, gone, 1},
			"an unknown id":            {"01a1fa6a-5869-7310-8297-cbac269b6576", "no such session", 3},
			"one put away":             {archived, "codex unarchive " + archived, 7},
		} {
			if a.Version == install.CodexOld && test.id == archived {
				continue // it cannot put sessions away
			}
			if out, errs, code := c.run("resume", test.id, "go on"); code != test.code || out != "" || !strings.Contains(errs, test.say) {
				t.Errorf("%s: exit code %d, %q\n%s", name, code, out, errs)
			}
		}
		if rows := rowsOf(c.list()); len(rows) > 0 {
			t.Errorf("live: %q", rows)
		}
	})
}

// TestCodexResumeTwice: of two at once one goes on, and the session has one more turn.
func TestCodexResumeTwice(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, _ world.Agent, c agentctl) {
		id := c.killed("-p", "once [[hang]]")
		codes := make([]int, 2)
		var group sync.WaitGroup
		for i := range codes {
			group.Go(func() { _, _, codes[i] = c.run("resume", "--force", id, "twice [[hang]]") })
		}
		group.Wait()
		if slices.Sort(codes); codes[0] != 0 || codes[1] == 0 {
			t.Errorf("exit codes %v", codes)
		}
		if got := asked(t, w, id); len(got) != 2 {
			t.Errorf("asked was %q", got)
		}
	})
}

// TestCodexFork: a copy goes on under an ID of its own, also of a session that is live. The older version has no way.
func TestCodexFork(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		id := c.launched("codex", "-p", "the first [[hang]]", "--model", "gpt-5.5")
		before := rolloutOf(t, w, id)
		if a.Version == install.CodexOld {
			if out, errs, code := c.run("resume", "--fork", "--force", id, "the copy"); code != 7 || out != "" || !strings.Contains(errs, "codex fork "+id) {
				t.Errorf("exit code %d, %q\n%s", code, out, errs)
			}
			return
		}
		copied := c.printed("resume", "--fork", "--force", id, "the copy [[hang]]")
		s := c.status(copied)
		if copied == id || s.ForkedFrom != id || s.Model != "gpt-5.5" || s.Status != "running" {
			t.Errorf("a copy of %s: %s, from %q, model %s", id, rowOf(s), s.ForkedFrom, s.Model)
		}
		if after := rolloutOf(t, w, id); len(after) != len(before) || c.status(id).Status != "running" {
			t.Errorf("the session itself: %d records, %d before; %s", len(after), len(before), rowOf(c.status(id)))
		}
	})
}

// TestCodexResumeInTerminal: without a message, agentctl becomes Codex's own interface on the session, which goes on as it
// was; in the newer version in the daemon.
func TestCodexResumeInTerminal(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		id := c.killed("-p", "remember the harbour [[hang]]", "--model", "harbour-1", "--permissions", "full")
		cmd := exec.Command(os.Getenv(binary), "resume", id)
		cmd.Env, cmd.Dir = a.Environ(), "/"
		terminal, err := term.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			terminal.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		shows := func(text string) {
			t.Helper()
			if !poll(func() bool { screen, _ := terminal.Screen(); return term.Contains(screen, text) }) {
				screen, _ := terminal.Screen()
				t.Fatalf("no %q on the screen:\n%s", text, screen)
			}
		}
		send := func(text string) {
			t.Helper()
			if err := terminal.Send(text); err != nil {
				t.Fatal(err)
			}
		}
		shows("remember the harbour")
		shows("harbour-1")
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid)); err != nil || exe != a.Native {
			t.Errorf("the process runs %s, %v", exe, err)
		}
		send("and on we go")
		shows("and on we go")
		send(string(term.Enter))
		shows("OK: and on we go")
		want := settings("danger-full-access", false)
		want.CWD, want.Model = a.Dir(), "harbour-1"
		if got := lastSettings(t, w, id); !same(got, want) {
			t.Errorf("it goes on with %+v, want %+v", got, want)
		}
		c.expect([]string{row(id, cmd.Process.Pid, "idle")})
	})
}
