package realagents

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// listedAsTheyAre compares the whole list with the truth: ID, process and status of every row, and nothing else.
func listedAsTheyAre(t *testing.T, w *world.World, c agentctl, want []string) {
	t.Helper()
	rows := c.expect(want)
	for _, r := range rows {
		if r.Evidence == nil || r.Evidence.Strength != "exact" || r.Evidence.Detail == "" {
			t.Errorf("%s: evidence %+v, want an exact one", rowOf(r), r.Evidence)
		}
		if r.ID == nil {
			continue
		}
		c.exits(0, r.Evidence.Kind, "status", *r.ID, "--explain")
		if got := rowOf(c.status(*r.ID)); got != rowOf(r) {
			t.Errorf("status says %q, list says %q", got, rowOf(r))
		}
	}
	compareWithClaude(t, w, rows)
}

// TestSessionsAreListedAsTheyAre has the three agents do at once what a person has them do: headless, in terminals, behind a daemon and
// behind a server. The list is the truth. After a kill -9 of all none is live, whatever files they leave: what had ended is completed, and what
// had not is interrupted.
func TestSessionsAreListedAsTheyAre(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	rows := slices.Concat(startClaude(t, w), startOpenCode(t, w), startCodex(t, w, c)) // last: it unloads a thread that nobody looks at after a minute
	listedAsTheyAre(t, w, c, slices.Clone(rows))
	pids := []int{daemonPID(t, w)} // which runs what a terminal shows
	var after []string
	for _, r := range rows {
		var id, status string
		var pid int
		if _, err := fmt.Sscanf(r, "%s pid %d %s", &id, &pid, &status); err != nil {
			t.Fatal(r, err)
		}
		after = append(after, row(id, 0, map[string]string{"idle": "stopped completed"}[status]))
		if status != "idle" {
			after[len(after)-1] = row(id, 0, "stopped interrupted")
		}
		if !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	if !poll(func() bool { return !slices.ContainsFunc(pids, living) }) { // until then it is right that they run
		t.Errorf("%v have not all ended", pids)
	}
	if left := c.list(); len(left) > 0 {
		t.Errorf("after kill -9: %q", rowsOf(left))
	}
	all := rowsOf(c.list("-a"))
	for _, r := range after {
		if !slices.Contains(all, r) {
			t.Errorf("after kill -9, list -a has no %q:\n%s", r, strings.Join(all, "\n"))
		}
	}
}

func startClaude(t *testing.T, w *world.World) []string {
	t.Helper()
	a := w.Claude(install.ClaudeCurrent)
	id := func(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }

	tool := w.Tool(a.Dir())
	print := a.Run("one [[shell "+tool.Command+"]]", "--session-id", id(1))
	tool.WaitRunning()

	idle := a.TUI("--session-id", id(2))
	idle.Submit("two is idle")
	idle.WaitFor("OK: two is idle")

	permission := a.TUI("--session-id", id(3), "--permission-mode", "manual")
	permission.Submit("three [[shell echo > q]]")
	permission.WaitFor("Do you want to proceed?")

	cleared := a.TUI("--session-id", id(4))
	cleared.Submit("four before clear")
	cleared.WaitFor("OK: four before clear")
	cleared.Submit("/clear")
	cleared.WaitGone("OK: four before clear")
	cleared.Submit("four after clear")
	cleared.WaitFor("OK: four after clear")

	return []string{
		row(id(1), print.PID(), "running"),
		row(id(2), idle.PID(), "idle"),
		row(id(3), permission.PID(), "waiting permission"),
		row(claudeID(t, w, "four after clear"), cleared.PID(), "idle"),
	}
}

func startCodex(t *testing.T, w *world.World, c agentctl) []string {
	t.Helper()
	codex := w.Codex(install.CodexCurrent)
	exec := codex.Run("exec [[hang]]")
	w.WaitCall("exec", 0)

	tui := codex.TUI()
	tui.Submit("behind the daemon")
	tui.WaitFor("OK: behind the daemon")

	own := codex.TUI("--no-daemon")
	own.Submit("first thread")
	own.WaitFor("OK: first thread")
	newThread(t, w, c, own, "first thread", "second thread [[hang]]")

	return []string{
		row(codexID(t, w, "exec [[hang]]"), exec.PID(), "running"),
		row(codexID(t, w, "behind the daemon"), tui.PID(), "idle"),
		row(codexID(t, w, "first thread"), own.PID(), "idle"),
		row(codexID(t, w, "second thread"), own.PID(), "running"),
	}
}

func startOpenCode(t *testing.T, w *world.World) []string {
	t.Helper()
	opencode := w.OpenCode(install.OpenCodeCurrent)
	var want []string
	run := opencode.Run("a headless run [[hang]]")
	w.WaitCall("a headless run", 0)
	want = append(want, row(openCodeID(t, w, "a headless run [[hang]]"), run.PID(), "running"))

	tui := opencode.TUI()
	tui.Submit("tui first")
	tui.WaitFor("OK: tui first")
	tui.Submit("/new")
	tui.WaitGone("OK: tui first")
	tui.WaitReady()
	tui.Submit("tui second [[hang]]")
	w.WaitCall("tui second", 0)
	want = append(want, row(openCodeID(t, w, "tui first"), tui.PID(), "idle"), row(openCodeID(t, w, "tui second"), tui.PID(), "running"))

	server := opencode.Serve()
	base := serverURL(t, server)
	for _, prompt := range []string{"served first", "served second [[hang]]"} {
		id := ask(t, base, opencode.Dir(), prompt)
		w.WaitCall(prompt, 0)
		want = append(want, row(id, server.PID(), map[bool]string{true: "running", false: "idle"}[strings.Contains(prompt, "hang")]))
	}
	return want
}

// serverURL waits until an OpenCode server says where it listens.
func serverURL(t *testing.T, server *world.Process) string {
	t.Helper()
	var url string
	if !poll(func() bool {
		_, rest, ok := strings.Cut(server.Stdout(), "listening on ")
		line, _, whole := strings.Cut(rest, "\n")
		url = strings.TrimSpace(line)
		return ok && whole
	}) {
		t.Fatalf("the server does not say where it listens: %q", server.Stdout()+server.Stderr())
	}
	return url
}

// newSession makes a session on an OpenCode server, without a prompt.
func newSession(t *testing.T, base, dir string) string {
	t.Helper()
	var session struct{ ID string }
	if err := json.Unmarshal(post(t, base+"/session?directory="+url.QueryEscape(dir), "{}"), &session); err != nil || session.ID == "" {
		t.Fatalf("no session: %v", err)
	}
	return session.ID
}

// ask makes a session on an OpenCode server and sends it a prompt.
func ask(t *testing.T, base, dir, prompt string) string {
	t.Helper()
	id := newSession(t, base, dir)
	post(t, base+"/session/"+id+"/prompt_async?directory="+url.QueryEscape(dir), `{"parts":[{"type":"text","text":`+strconv.Quote(prompt)+`}]}`)
	return id
}

func post(t *testing.T, url, body string) []byte {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("POST %s: %s, %v: %s", url, res.Status, err, raw)
	}
	return raw
}

// compareWithClaude asks Claude Code for its own list of live sessions: where it speaks, it must agree.
func compareWithClaude(t *testing.T, w *world.World, rows []session) {
	t.Helper()
	var own []struct {
		PID       int
		SessionID string
		Status    string
	}
	out := w.Claude(install.ClaudeCurrent).Output("agents", "--json")
	if err := json.Unmarshal([]byte(out), &own); err != nil {
		t.Fatalf("claude agents --json: %v\n%s", err, out)
	}
	said := map[string]string{"busy": "running", "idle": "idle", "waiting": "waiting", "shell": "idle"}
	for _, o := range own {
		i := slices.IndexFunc(rows, func(r session) bool { return r.ID != nil && *r.ID == o.SessionID && r.PID == o.PID })
		if i < 0 {
			t.Errorf("Claude Code lists %+v, agentctl does not", o)
		} else if o.Status != "" && rows[i].Status != said[o.Status] {
			t.Errorf("Claude Code says %s of %s, agentctl %s", o.Status, o.SessionID, rows[i].Status)
		}
	}
	if len(own) == 0 {
		t.Error("Claude Code lists no session of its own")
	}
}
