package claudecode

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

const (
	tui1  = "e226c6c2-b29e-44bd-a15c-c206f3c183bb" // fixture 03: pid 23113, ticks 80645
	alive = "cccccccc-2222-4333-8444-555555555555" // fixture 09: pids 4045 and 5005
)

func TestRegistryEntryNamesTheSession(t *testing.T) {
	dir := home(t, "03-tui-live-clear-resume-compact-subagent-2.1.197")
	got := claims(t, dir, native329(23113, 80645, dir, "/srv/claude-lab/w/tui1"))
	if len(got) != 2 || got[0].Session != "" {
		t.Fatalf("want a presence and a claim, got %+v", got)
	}
	c := got[1]
	want := filepath.Join(dir, "projects/-srv-claude-lab-w-tui1", tui1+transcriptSuffix)
	if c.Session != tui1 || c.Path != want || c.Strength != discover.Exact || c.Kind != "registry" {
		t.Errorf("claim %+v", c)
	}
	if c.Title != "my nice name" || c.Source != "tui" || c.Dir != "/srv/claude-lab/w/tui1" || c.Version != "2.1.197" || c.Home != dir {
		t.Errorf("facts %+v", c)
	}
	if c.Turn == nil || c.Turn.State != discover.TurnDone {
		t.Errorf("turn %+v, want done: the status is idle", c.Turn)
	}
}

// Two processes may run one session: a TUI and a print run that resumed it.
func TestTwoProcessesOnOneSession(t *testing.T) {
	dir := home(t, "09-two-processes-one-session-2.1.197")
	cwd := "/srv/claude-lab/w/alive"
	got := sessions(claims(t, dir, native329(4045, 199670, dir, cwd), native329(5005, 200424, dir, cwd, "-p", "--resume", alive)))
	if len(got) != 2 || got[0].Session != alive || got[1].Session != alive || got[0].Path != got[1].Path {
		t.Fatalf("claims %+v", got)
	}
	if got[0].Source != "tui" || got[1].Source != "print" || got[1].Turn == nil || got[1].Turn.State != discover.TurnOpen {
		t.Errorf("a print run is in its turn while it lives: %+v", got)
	}
}

// A background session's process may have been a spare: its command line names no session. Its helpers run none.
func TestBackgroundSession(t *testing.T) {
	dir := home(t, "11-bg-idle-claimed-spare-2.1.329")
	cwd := "/srv/claude-lab/w/bg329"
	worker := native329(13060, 217800, dir, cwd)
	worker.Arguments = []string{"claude", "bg-spare", "--bg-spare", "/tmp/cc-daemon-0/94ac6be9/spare/54b23a74.claim.sock"}
	worker.Parent = 13011
	host := native329(13011, 217787, dir, cwd)
	host.Arguments = []string{"claude", "bg-pty-host", "--bg-pty-host", "/tmp/x.sock", "200", "50", "--", "claude", "--session-id", alive}
	daemon := native329(12999, 217700, dir, "/", "daemon", "run", "--origin", "transient")
	spare := worker
	spare.ID.PID, spare.Ticks = 13061, 217801
	got := claims(t, dir, daemon, host, worker, spare)
	if len(got) != 2 {
		t.Fatalf("want the worker's presence and session only: %+v", got)
	}
	c := got[1]
	if c.Session != "b8d3588e-9fce-4956-a72a-8fe62bb837e0" || c.Source != "bg" || c.Meta.Get("jobId") != "b8d3588e" || c.Title != "mock reply 396" {
		t.Errorf("claim %+v", c)
	}
}

// A spare process may register like a session, with the field "spare" (2.1.329) or without (2.1.197). It runs no session
// until it gets a task, which its job file shows. The session is named after its job until it gets a name.
func TestSpareProcess(t *testing.T) {
	dir := t.TempDir()
	f := native329(300, 1000, dir, "/w", "--session-id", alive, "--agent", "claude")
	f.Environ, f.Parent = map[string]string{configKey: dir}, 299
	host := native329(299, 999, dir, "/w", "bg-pty-host", "--bg-pty-host", "/tmp/x.sock")
	none := func(when string) {
		t.Helper()
		if got := claims(t, dir, f, host); len(got) != 0 {
			t.Errorf("%s: %+v", when, got)
		}
	}
	one := func(when string) {
		t.Helper()
		if got := sessions(claims(t, dir, f, host)); len(got) != 1 || got[0].Session != alive || got[0].Title != "" {
			t.Errorf("%s: %+v", when, got)
		}
	}
	none("begun")
	entry := fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.329","kind":"bg","name":%q,"jobId":%q`, alive, alive[:jobIDLen], alive[:jobIDLen])
	writeEntry(t, dir, 300, entry+`,"status":"idle","spare":true`)
	none("registered with the mark")
	writeEntry(t, dir, 300, entry+`,"status":"idle"`)
	none("registered")
	writeEntry(t, dir, 300, entry+`,"status":"busy"`)
	one("at work")
	must(t, os.MkdirAll(filepath.Dir(jobPath(dir, alive)), 0o700))
	must(t, os.WriteFile(jobPath(dir, alive), []byte("{}"), 0o600))
	writeEntry(t, dir, 300, entry+`,"status":"idle"`)
	one("given a task")
	must(t, os.Remove(registryPath(dir, 300)))
	one("given a task before it registers")
}

// A terminal whose session has moved to the background (the left arrow key) keeps its registry entry (2.1.329), but runs no
// session.
func TestParkedSession(t *testing.T) {
	dir := t.TempDir()
	const moved = "69ba9323-748f-4c94-8ed6-bd4b556515cd"
	writeTranscript(t, dir, minimal+fmt.Sprintf(`{"type":"continued-in","timestamp":"2026-11-22T07:37:49.381Z","sessionId":%q,"continuedInSessionId":%q}`+"\n", alive, moved))
	f := native329(300, 1000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.329","kind":"interactive","status":"busy","parkedJobId":%q`, alive, moved[:jobIDLen]))
	if got := claims(t, dir, f); len(got) != 0 {
		t.Errorf("claims %+v", got)
	}
	got, _ := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{})
	if len(got) != 1 || got[0].Meta.Get("continuedIn") != moved {
		t.Errorf("records %+v", got)
	}
}

// S14: a session that is not stored yet is claimed nevertheless.
func TestUntouchedTUIIsIdle(t *testing.T) {
	dir := home(t, "09-two-processes-one-session-2.1.197")
	must(t, os.RemoveAll(filepath.Join(dir, "projects")))
	got := sessions(claims(t, dir, native329(4045, 199670, dir, "/srv/claude-lab/w/alive")))
	if len(got) != 1 || got[0].Session != alive || got[0].Path != "" || got[0].Dir != "/srv/claude-lab/w/alive" {
		t.Fatalf("claims %+v", got)
	}
}

// S16, S21: several processes of one directory keep their own sessions.
func TestProcessesOfOneDirectoryAreNotMixedUp(t *testing.T) {
	dir := t.TempDir()
	var table []proc.FakeProcess
	for i := range 20 {
		pid, ticks := 1000+i, uint64(5000+i)
		table = append(table, native329(pid, ticks, dir+"/.claude", "/w"))
		writeEntry(t, dir+"/.claude", pid, fmt.Sprintf(`"procStart":"%d","sessionId":%q,"status":"busy","version":"2.1.197"`, ticks, numbered(i)))
	}
	rand.Shuffle(len(table), func(i, j int) { table[i], table[j] = table[j], table[i] })
	got := sessions(claims(t, dir+"/.claude", table...))
	if len(got) != 20 {
		t.Fatalf("%d claims", len(got))
	}
	for _, c := range got {
		if c.Session != numbered(c.Process.PID-1000) {
			t.Errorf("%s claims %s", c.Process, c.Session)
		}
	}
}

func numbered(i int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", i) }

func writeEntry(t *testing.T, dir string, pid int, fields string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(dir, "sessions"), 0o700))
	must(t, os.WriteFile(registryPath(dir, pid), fmt.Appendf(nil, `{"pid":%d,"cwd":"/w","entrypoint":"cli",%s}`, pid, fields), 0o600))
}

// Without a registry entry, the command line may name the session.
func TestEvidenceWithoutRegistryEntry(t *testing.T) {
	dir := home(t, "01-print-2.1.197")
	own := native329(200, 2000, dir, "/w")
	own.Environ[sessionKey] = alive // it was started inside of another session: that is not its own
	for _, c := range []struct {
		name     string
		table    []proc.FakeProcess
		session  string
		strength discover.Strength
	}{
		{"print", []proc.FakeProcess{native329(200, 2000, dir, "/w", "-p", "--session-id", alive, "--", "hi")}, alive, discover.Strong},
		{"TUI", []proc.FakeProcess{native329(200, 2000, dir, "/w", "-r", alive)}, alive, discover.Weak},
		{"fork with an id", []proc.FakeProcess{native329(200, 2000, dir, "/w", "-p", "-r", tui1, "--fork-session", "--session-id="+alive)}, alive, discover.Strong},
		{"fork", []proc.FakeProcess{native329(200, 2000, dir, "/w", "-p", "-r", tui1, "--fork-session")}, "", 0},
		{"nothing", []proc.FakeProcess{own}, "", 0},
	} {
		got := sessions(claims(t, dir, c.table...))
		if c.session == "" && len(got) == 0 {
			continue
		}
		if len(got) != 1 || got[0].Session != c.session || got[0].Strength != c.strength {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestSuspendedProcess(t *testing.T) {
	dir := home(t, "09-two-processes-one-session-2.1.197")
	f := native329(4045, 199670, dir, "/srv/claude-lab/w/alive")
	f.State = 'T'
	for _, c := range claims(t, dir, f) {
		if c.Meta.Get("suspended") != true {
			t.Errorf("claim %+v", c)
		}
	}
}

func TestReadMarker(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want discover.EnvMarker
	}{
		{map[string]string{markerKey: "1", sessionKey: alive}, discover.EnvMarker{Session: alive, OutlivesSession: true}},
		{map[string]string{markerKey: "1", sessionKey: alive, pidKey: "7"}, discover.EnvMarker{Session: alive, OutlivesSession: true, PID: 7}},
		{map[string]string{markerKey: "1", pidKey: "7"}, discover.EnvMarker{PID: 7}},
		{map[string]string{sessionKey: alive, pidKey: "7"}, discover.EnvMarker{}},
		{map[string]string{markerKey: "1"}, discover.EnvMarker{}},
		{map[string]string{markerKey: "1", sessionKey: "x", pidKey: "-7"}, discover.EnvMarker{}},
	} {
		mark, ok := New().ReadMarker(func(k string) string { return c.env[k] })
		if ok != (c.want != discover.EnvMarker{}) || mark != c.want {
			t.Errorf("%v: %+v, %v", c.env, mark, ok)
		}
	}
}

func TestCanceledClaims(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New().Claims(ctx, proc.NewFakeTable(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
