package realagents

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestOpenCodeLivesBeforeItsLogSaysSo: OpenCode writes the line that names a session about a second after the session is
// stored. Until then the session is live in the only process that may have begun it, and no second process goes on with it.
func TestOpenCodeLivesBeforeItsLogSaysSo(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)
	a.Run("an old one").Wait()
	old := openCodeID(t, w, "an old one")
	c.expect(nil)

	server := a.Serve()
	base, query := serverURL(t, server), "?directory="+url.QueryEscape(a.Dir())
	for n := range 2 {
		id := newSession(t, base, a.Dir())
		c.lives(id, server.PID(), "idle")
		text := "served " + strconv.Itoa(n) + " [[hang]]"
		post(t, base+"/session/"+id+"/prompt_async"+query, `{"parts":[{"type":"text","text":`+strconv.Quote(text)+`}]}`)
		c.lives(openCodeID(t, w, text), server.PID(), "running")
	}
	post(t, base+"/session/"+old+"/prompt_async"+query, `{"parts":[{"type":"text","text":"again [[hang]]"}]}`)
	c.lives(openCodeID(t, w, "again [[hang]]"), server.PID(), "running")
	kill(t, server.PID())
	c.expect(nil)

	tui := a.TUI()
	tui.Submit("tui first")
	first := openCodeID(t, w, "tui first")
	c.livesIn(first, tui.PID())
	tui.WaitFor("OK: tui first")
	for n := range 2 {
		tui.Submit("/new")
		tui.WaitGone("OK: tui")
		tui.WaitReady()
		text := "tui more " + strconv.Itoa(n)
		tui.Submit(text)
		c.livesIn(openCodeID(t, w, text), tui.PID())
		tui.WaitFor("OK: " + text)
	}
	c.lives(first, tui.PID(), "idle")

	second := a.Serve()
	id := newSession(t, serverURL(t, second), a.Dir()) // of the terminal or of the server: nobody can tell yet
	if got := c.status(id); got.Status == "stopped" {
		t.Errorf("a new session beside a terminal: %s", rowOf(got))
	}
	c.refuses(id)
	if !poll(func() bool { return rowOf(c.status(id)) == row(id, second.PID(), "idle") }) {
		t.Errorf("later: %s", rowOf(c.status(id)))
	}
}

// newSession makes a session on an OpenCode server, without a prompt.
func newSession(t *testing.T, base, dir string) string {
	t.Helper()
	_, rest, _ := strings.Cut(string(post(t, base+"/session?directory="+url.QueryEscape(dir), "{}")), `"id":"`)
	id, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("no session: %q", rest)
	}
	return id
}

// lives checks at once what every verb says of a live session.
func (c agentctl) lives(id string, pid int, status string) {
	c.t.Helper()
	if got, want := rowOf(c.status(id)), row(id, pid, status); got != want {
		c.t.Errorf("status: %s, want %s", got, want)
	}
	c.refuses(id)
	if _, errs, code := c.run("guard"); code != 5 && status == "running" {
		c.t.Errorf("guard: exit code %d\n%s", code, errs)
	}
}

// livesIn checks at once that a session runs in a process, whatever its turn does.
func (c agentctl) livesIn(id string, pid int) {
	c.t.Helper()
	if got := c.status(id); got.PID != pid || got.Status == "stopped" {
		c.t.Errorf("status: %s, want it live in %d", rowOf(got), pid)
	}
	c.refuses(id)
}

// refuses checks that no second process goes on with a session.
func (c agentctl) refuses(id string) {
	c.t.Helper()
	if out, errs, code := c.run("resume", id, "twice"); code != 5 {
		c.t.Errorf("resume: exit code %d\n%s%s", code, out, errs)
	}
}
