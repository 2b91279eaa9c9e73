package realagents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// stores are the folders that hold an agent's sessions.
func stores(w *world.World, agent string) string {
	return map[string]string{
		install.ClaudeCode: filepath.Join(w.Home, ".claude/projects"), install.Codex: filepath.Join(w.Home, ".codex/sessions"), install.OpenCode: w.OpenCodeHome(),
	}[agent]
}

// TestALostStoreIsNotDeath: S6 and S15. While an agent's store is away or may not be read, its live session is a row
// and the others' rows are right; when it is back, all is as before.
func TestALostStoreIsNotDeath(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	var want []string
	pids := map[string]int{}
	for _, r := range install.Newest() {
		a := w.Release(r)
		prompt := "keeps on in " + a.Agent() + " [[hang]]"
		p := a.Run(prompt)
		w.WaitCall(prompt, 0)
		want = append(want, row(idOf(t, w, a, prompt), p.PID(), "running"))
		pids[r.Agent] = p.PID()
	}
	c.expect(want)
	for _, r := range install.Newest() {
		t.Run(r.Agent, func(t *testing.T) {
			store := stores(w, r.Agent)
			if err := os.Rename(store, store+".away"); err != nil {
				t.Fatal(err)
			}
			rows := c.listAnyway()
			if err := os.Rename(store+".away", store); err != nil {
				t.Fatal(err)
			}
			for _, s := range rows {
				if s.Status == "stopped" {
					t.Errorf("without %s: %s", store, rowOf(s))
				}
			}
			for agent, pid := range pids {
				if !slices.ContainsFunc(rows, func(s session) bool { return s.PID == pid }) {
					t.Errorf("without %s there is no row of %s: %q", store, agent, rowsOf(rows))
				}
			}
			c.expect(want)
		})
	}
}

// TestASessionComesBackUnderItsID: S18. One that was stopped and is resumed is running again.
func TestASessionComesBackUnderItsID(t *testing.T) {
	for _, r := range install.Newest() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			c := agentctlIn(t, w)
			a := w.Release(r)
			a.Run("the first turn").Wait()
			id := idOf(t, w, a, "the first turn")
			c.expect([]string{row(id, 0, "stopped completed")}, "-a")
			resume := map[string][]string{
				install.ClaudeCode: {"--resume", id}, install.Codex: {"resume", id, "-"}, install.OpenCode: {"-s", id},
			}[r.Agent]
			p := a.Run("the second turn [[hang]]", resume...)
			w.WaitCall("the second turn", 0)
			if again := idOf(t, w, a, "the second turn [[hang]]"); again != id { // and it is stored before the kill
				t.Fatalf("the turn was stored in %s", again)
			}
			c.expect([]string{row(id, p.PID(), "running")}, "-a")
			p.Kill()
			c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
		})
	}
}

// TestTheAnswerDoesNotDependOnTheSurroundings: S12. No ps, no lsof, another language, another time zone.
func TestTheAnswerDoesNotDependOnTheSurroundings(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	var want []string
	for _, r := range install.Newest() {
		a := w.Release(r)
		prompt := "somewhere in " + a.Agent() + " [[hang]]"
		p := a.Run(prompt)
		w.WaitCall(prompt, 0)
		want = append(want, row(idOf(t, w, a, prompt), p.PID(), "running"))
	}
	c.expect(want)
	for _, env := range [][]string{
		{"PATH=/nonexistent"}, {"LANG=de_DE.UTF-8", "LC_ALL=de_DE.UTF-8"}, {"TZ=Pacific/Kiritimati"}, {"TZ=America/New_York"},
	} {
		other := c
		other.env = env
		if got := rowsOf(other.list()); !slices.Equal(got, want) && !slices.Equal(got, sorted(want)) {
			t.Errorf("with %q: %q, want %q", env, got, want)
		}
	}
}

func sorted(s []string) []string { slices.Sort(s); return s }

// TestARegistryEntryIsBelievedOnlyOfItsProcess: S11. What a killed Claude Code left is made to name a bystander's pid,
// with the old start time and then with the bystander's own.
func TestARegistryEntryIsBelievedOnlyOfItsProcess(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	a := w.Claude(install.ClaudeCurrent)
	p := a.Run("to be killed [[hang]]")
	w.WaitCall("to be killed", 0)
	id := claudeID(t, w, "to be killed")
	c.expect([]string{row(id, p.PID(), "running")})
	p.Kill()
	bystander := exec.Command("sleep", "1000")
	bystander.Env = []string{"HOME=" + w.Home}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()
	old, stale := fmt.Sprint(p.PID()), filepath.Join(w.Home, ".claude", "sessions", fmt.Sprint(p.PID())+".json")
	raw, err := os.ReadFile(stale)
	if err != nil {
		t.Fatalf("a killed Claude Code leaves its entry behind: %v", err)
	}
	pid := fmt.Sprint(bystander.Process.Pid)
	entry := strings.Replace(string(raw), `"pid":`+old, `"pid":`+pid, 1)
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	ticks := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')'):]))[20]
	before, after, found := strings.Cut(entry, `"procStart":"`)
	_, after, _ = strings.Cut(after, `"`)
	if !found {
		t.Fatalf("no procStart in %s", entry)
	}
	for _, forged := range []string{entry, before + `"procStart":"` + ticks + `"` + after} {
		if err := os.WriteFile(filepath.Join(w.Home, ".claude", "sessions", pid+".json"), []byte(forged), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(c.list("-a")); len(got) != 1 || got[0] != row(id, 0, "stopped interrupted") {
			t.Errorf("with %s: %q", forged, got)
		}
	}
	if !living(bystander.Process.Pid) {
		t.Error("the bystander is dead")
	}
}

// TestClearStartsAnotherSession in one process, with every registry there ever was.
func TestClearStartsAnotherSession(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		if a.Agent() != install.ClaudeCode {
			return
		}
		c := agentctlIn(t, w)
		tui := a.TUI()
		tui.Submit("before clear")
		tui.WaitFor("OK: before clear")
		first := claudeID(t, w, "before clear")
		c.expect([]string{row(first, tui.PID(), "idle")})
		tui.Submit("/clear")
		tui.WaitGone("OK: before clear")
		tui.Submit("after clear")
		tui.WaitFor("OK: after clear")
		second := claudeID(t, w, "after clear")
		c.expect([]string{row(second, tui.PID(), "idle"), row(first, 0, "stopped completed")}, "-a")
	})
}

// TestATerminalsDeathMeansNothing to a session that the daemon behind it runs.
func TestATerminalsDeathMeansNothing(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	tui := w.Codex(install.CodexCurrent).TUI()
	tui.Submit("outlives its terminal [[hang]]")
	w.WaitCall("outlives its terminal", 0)
	want := []string{row(codexID(t, w, "outlives its terminal"), daemonPID(t, w), "running")}
	c.expect(want)
	tui.Kill()
	if got := rowsOf(c.list()); !slices.Equal(got, want) {
		t.Errorf("after the terminal's death: %q, want %q", got, want)
	}
}

// TestAShellsDeathMeansNothing: the shell that started an agent is killed, the agent is listed live.
func TestAShellsDeathMeansNothing(t *testing.T) {
	for _, r := range install.Newest() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			a := w.Release(r)
			a.Shim = []string{"/bin/sh", "-c", `"$0" "$@"; exit $?`, a.Native} // does not replace itself
			if !outlives(t, w, a, "its shell") {
				t.Error("there is no shell")
			}
		})
	}
}
