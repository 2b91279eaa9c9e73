package claudecode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	want := filepath.Join(dir, "projects/-srv-claude-lab-w-tui1", tui1+suffix)
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

// A registry file proves nothing by itself (S9, S11): it outlives a SIGKILL, and its pid is given to others.
func TestStaleRegistryEntryIsNoEvidence(t *testing.T) {
	dir := home(t, "04-tui-sigkill-stale-registry-2.1.197") // pid 569, ticks 110454, "busy"
	cwd := "/srv/claude-lab/w/st_KILL"
	owner := native329(569, 110454, dir, cwd)
	innocent := owner
	innocent.Name, innocent.Exe, innocent.Arguments = "sleep", "/usr/bin/sleep", []string{"claude", "--resume", tui1}
	zombie := owner
	zombie.State = 'Z'
	for name, f := range map[string]proc.Facts{
		"another program": innocent, "zombie": zombie, "another birth": native329(569, 110455, dir, cwd),
		"another pid": native329(570, 110454, dir, cwd),
	} {
		if got := sessions(claims(t, dir, f)); len(got) > 0 {
			t.Errorf("%s: claims %+v", name, got)
		}
	}
	if got := sessions(claims(t, dir, owner)); len(got) != 1 {
		t.Errorf("the owner itself: %+v", got)
	}
}

// Of 10,000 recycled pids none is taken for the dead owner, with procStart or without.
func TestRecycledPIDsAreRejected(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		born := 1 + rng.Uint64N(1<<32)
		later := born + 301 + rng.Uint64N(1<<32) // registering takes a moment, and a clock of seconds is allowed two
		registered := bootTime.Add(time.Duration(born) * 10 * time.Millisecond).Add(500 * time.Millisecond)
		p := native329(4711, later, "/h", "/w").Process
		for _, e := range []entry{
			{PID: 4711, SessionID: alive, StartedAt: registered.UnixMilli(), ProcStart: fmt.Sprint(born)},
			{PID: 4711, SessionID: alive, StartedAt: registered.UnixMilli()},
		} {
			if proof, err := e.validate(p, 4711); err == nil {
				t.Fatalf("born %d, recycled %d: accepted, %s", born, later, proof)
			}
		}
	}
}

// The owner is accepted however long a dialog held up its registration.
func TestOwnerIsAcceptedWhenRegisteringTookLong(t *testing.T) {
	p := native329(4711, 1000, "/h", "/w").Process
	for _, wait := range []time.Duration{0, time.Second, time.Hour} {
		e := entry{PID: 4711, SessionID: alive, StartedAt: p.Started.Add(wait).UnixMilli()}
		if _, err := e.validate(p, 4711); err != nil {
			t.Errorf("registered after %s: %v", wait, err)
		}
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

// A version before 2.1.129 keeps the first id in its registry after /clear; the transcripts tell.
func TestClearInVersionsWhoseRegistryStaysBehind(t *testing.T) {
	for _, c := range []struct {
		fixture, cwd, old, new string
		pid                    int
		ticks                  uint64
	}{
		{"16-tui-clear-stale-id-2.1.75", "/srv/claude-lab/w/t2.1.75", "621dd4f6-85b1-4d31-861a-164e326ec2ca", "c0944497-9d38-4fa9-8c44-037a420209aa", 28188, 155341},
		{"16-tui-clear-stale-id-2.1.112", "/srv/claude-lab/w/t2.1.112", "dd1c69f1-520c-4021-ae36-a450e383ae38", "a8b37138-dca9-402b-aa03-5edd88b552bd", 28263, 155384},
	} {
		t.Run(c.fixture, func(t *testing.T) {
			dir := home(t, c.fixture)
			own := node112(c.pid, c.ticks, dir, c.cwd)
			got := sessions(claims(t, dir, own))
			if len(got) != 1 || got[0].Session != c.new || got[0].Strength != discover.Strong || got[0].Kind != "clear" {
				t.Fatalf("after /clear: %+v", got)
			}
			// Another such process in the directory may have begun it: then nobody knows.
			other := node112(c.pid+1, c.ticks+5, dir, c.cwd)
			for _, claim := range sessions(claims(t, dir, own, other)) {
				if claim.Strength != discover.Weak {
					t.Errorf("with a second process: %+v", claim)
				}
			}
			// Once the first session is written again (/resume), it is the process's.
			now := time.Now()
			must(t, os.Chtimes(transcriptPath(dir, c.cwd, c.old), now, now))
			got = sessions(claims(t, dir, own))
			if len(got) != 1 || got[0].Session != c.old || got[0].Strength != discover.Exact {
				t.Errorf("after the return: %+v", got)
			}
		})
	}
}

// Before 2.1.85 the registry does not follow /resume either, and nothing else tells.
func TestResumeThatTheRegistryMayHaveMissedIsAmbiguous(t *testing.T) {
	dir, cwd := home(t, "16-tui-clear-stale-id-2.1.75"), "/srv/claude-lab/w/t2.1.75"
	old := transcriptPath(dir, cwd, "621dd4f6-85b1-4d31-861a-164e326ec2ca")
	raw, err := os.ReadFile(old)
	must(t, err)
	resumed := transcriptPath(dir, cwd, alive)
	must(t, os.WriteFile(resumed, []byte(strings.ReplaceAll(string(raw), "2026-11-20T19:25", "2026-11-20T18:25")), 0o600))
	for _, claim := range sessions(claims(t, dir, node112(28188, 155341, dir, cwd))) {
		if claim.Strength != discover.Weak {
			t.Errorf("claim %+v", claim)
		}
	}
}

// A background session's process may be a claimed spare: the command line names no session. Its helpers run none.
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
	if c.Session != "b8d3588e-9fce-4956-a72a-8fe62bb837e0" || c.Source != "bg" || c.Meta["jobId"] != "b8d3588e" || c.Title != "mock reply 396" {
		t.Errorf("claim %+v", c)
	}
}

func TestHelpersAreNoSessions(t *testing.T) {
	dir := home(t, "01-print-2.1.197")
	for _, args := range []string{
		"daemon run --origin x", "mcp serve", "--verbose mcp serve", "agents --json", "doctor", "update", "--version",
		"--bg-spare /tmp/x", "--bg do it", "--model opus install latest", "--mcp-config a.json b.json --strict-mcp-config mcp serve",
	} {
		if got := claims(t, dir, native329(100, 1000, dir, "/w", strings.Fields(args)...)); len(got) > 0 {
			t.Errorf("claude %s: %+v", args, got)
		}
	}
	search := native329(100, 1000, dir, "/w", "--files")
	search.Arguments[0] = "rg"
	if got := claims(t, dir, search); len(got) > 0 {
		t.Errorf("the embedded rg: %+v", got)
	}
	// An MCP server of a node build has wiped its arguments; its parent tells.
	server := node112(101, 1001, dir, "/w")
	server.Parent = 100
	if got := claims(t, dir, node112(100, 1000, dir, "/w"), server); len(got) != 1 || got[0].Process.PID != 100 {
		t.Errorf("an MCP server: %+v", got)
	}
}

func TestSessionsAreNotTakenForHelpers(t *testing.T) {
	dir := home(t, "01-print-2.1.197")
	for _, args := range [][]string{
		{}, {"-p", "--", "install"}, {"-n", "doctor"}, {"--allowedTools", "mcp", "update"}, {"-p", "stop the server"},
		{"--resume"}, {"--resume", "project"}, {"--model=mcp"},
	} {
		if got := claims(t, dir, native329(100, 1000, dir, "/w", args...)); len(got) != 1 || got[0].Session != "" {
			t.Errorf("claude %q: %+v", args, got)
		}
	}
}

// What is not Claude Code, whatever its command line says (S25).
func TestDecoys(t *testing.T) {
	for name, exe := range map[string]string{
		"vim": "/usr/bin/vim", "claude": "/usr/bin/sleep", "bash": "/bin/bash", "claude.sh": "/home/u/claude.sh", "node": "/usr/bin/node",
	} {
		f := process0(100, 1000, "/h", "/w")
		f.Name, f.Exe, f.Arguments = name, exe, []string{"claude", "--session-id", alive, "/.claude/claude.md"}
		if got := claims(t, "/h", f); len(got) > 0 {
			t.Errorf("%s (%s): %+v", name, exe, got)
		}
	}
}

// TestLooksLike goes through the ways in which Claude Code is installed and started.
func TestLooksLike(t *testing.T) {
	for _, f := range []proc.Facts{
		{Process: proc.Process{Name: "claude", Exe: "/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe"}},
		{Process: proc.Process{Name: "claude.exe", Exe: "/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe"}},
		{Process: proc.Process{Name: "claude", Exe: "/x/@anthropic-ai/claude-code-linux-x64/claude"}},
		{Process: proc.Process{Name: "2.1.197", Exe: "/home/u/.local/share/claude/versions/2.1.197"}},
		{Process: proc.Process{Name: "claude", Exe: "/usr/bin/node"}, Arguments: []string{"claude"}},
		{Process: proc.Process{Name: "node", Exe: "/usr/bin/node"}, Arguments: []string{"node", "/x/.bin/claude", "-p"}},
		{Process: proc.Process{Name: "node", Exe: "/usr/bin/node"}, Arguments: []string{"node", "--max-old-space-size=9", "/x/claude-code/cli.js"}},
		{Process: proc.Process{Name: "claude"}, Arguments: []string{"claude"}}, // another user's: no binary to be seen
	} {
		if p, _ := proc.Of(f).PID(0); !looksLike(p) {
			t.Errorf("%s, %s, %q is not recognised", f.Name, f.Exe, f.Arguments)
		}
	}
}

// A process that the kernel is just ending has no binary and no arguments any more, but is no zombie yet (S9).
func TestDyingProcessIsNotAnothersUser(t *testing.T) {
	f := process0(100, 1000, "/h", "")
	f.Name = "claude"
	if got := claims(t, "/h", f); len(got) > 0 {
		t.Errorf("claims %+v", got)
	}
}

// S14: a process whose session is not on disk yet is there all the same.
func TestUntouchedTUIIsIdle(t *testing.T) {
	dir := home(t, "09-two-processes-one-session-2.1.197")
	must(t, os.RemoveAll(filepath.Join(dir, "projects")))
	got := sessions(claims(t, dir, native329(4045, 199670, dir, "/srv/claude-lab/w/alive")))
	if len(got) != 1 || got[0].Session != alive || got[0].Path != "" || got[0].Dir != "/srv/claude-lab/w/alive" {
		t.Fatalf("claims %+v", got)
	}
	// Without a status (2.1.112) too.
	must(t, os.WriteFile(entryPath(dir, 4045), fmt.Appendf(nil, `{"pid":4045,"sessionId":%q,"cwd":"/w","startedAt":%d,"kind":"interactive","entrypoint":"cli"}`, alive, time.Now().UnixMilli()), 0o600))
	got = sessions(claims(t, dir, node112(4045, 199670, dir, "/w")))
	if len(got) != 1 || got[0].Turn == nil || got[0].Turn.State != discover.TurnNone {
		t.Errorf("claims %+v", got)
	}
}

// S16, S21: several processes of one directory keep their own sessions.
func TestProcessesOfOneDirectoryAreNotMixedUp(t *testing.T) {
	dir := t.TempDir()
	var table []proc.Facts
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
	must(t, os.WriteFile(entryPath(dir, pid), fmt.Appendf(nil, `{"pid":%d,"cwd":"/w","startedAt":%d,"entrypoint":"cli",%s}`, pid, time.Now().UnixMilli(), fields), 0o600))
}

// In a container the file is named by the pid there, and the paths of its environment are not ours.
func TestProcessInAContainer(t *testing.T) {
	dir := t.TempDir()
	writeEntry(t, dir, 1, fmt.Sprintf(`"procStart":"7777","sessionId":%q,"version":"2.1.329","pidDomain":"linux:feed:pid:[4026532454]"`, alive))
	f := native329(5000, 7777, "/nowhere/.claude", "/w")
	f.Namespaced, f.Namespace = []int{5000, 1}, "pid:[4026532454]"
	if got := sessions(claims(t, dir, f)); len(got) != 1 || got[0].Session != alive || got[0].Home != dir {
		t.Errorf("claims %+v", got)
	}
	f.Namespace = "pid:[4026539999]"
	if got := sessions(claims(t, dir, f)); len(got) != 0 {
		t.Errorf("another namespace: %+v", got)
	}
	if got := New().Homes(discover.Setup{Getenv: func(string) string { return "" }}, proc.Of(f)); len(got) != 0 {
		t.Errorf("homes %+v: a path of the container is not ours", got)
	}
}

func TestAnotherMachineOnASharedHome(t *testing.T) {
	own := machineID()
	if own == "" {
		own = "none"
	}
	p := native329(5000, 7777, "/h", "/w")
	table := proc.Of(p)
	found, _ := table.PID(5000)
	e := entry{PID: 5000, ProcStart: "7777", PIDDomain: "linux:" + own + ":pid:[4026531836]"}
	if _, err := e.validate(found, 5000); err != nil {
		t.Errorf("our own: %v", err)
	}
	if e.PIDDomain = "linux:" + strings.Repeat("0", 32) + ":pid:[4026531836]"; machineID() != "" {
		if _, err := e.validate(found, 5000); err == nil {
			t.Error("another machine's entry is accepted")
		}
	}
}

// Without a registry entry: the environment of a running command, then the command line.
func TestOtherTracesOfASession(t *testing.T) {
	dir := home(t, "01-print-2.1.197")
	tool := process0(201, 2001, dir, "/w")
	tool.Name, tool.Exe, tool.Parent = "bash", "/bin/bash", 200
	tool.Environ = map[string]string{markKey: "1", sessionKey: tui1}
	own := native329(200, 2000, dir, "/w")
	own.Environ[sessionKey] = alive // it was started inside of another session: that is not its own
	for _, c := range []struct {
		name     string
		table    []proc.Facts
		session  string
		strength discover.Strength
	}{
		{"a running command", []proc.Facts{own, tool}, tui1, discover.Strong},
		{"print", []proc.Facts{native329(200, 2000, dir, "/w", "-p", "--session-id", alive, "--", "hi")}, alive, discover.Strong},
		{"TUI", []proc.Facts{native329(200, 2000, dir, "/w", "-r", alive)}, alive, discover.Weak},
		{"fork with an id", []proc.Facts{native329(200, 2000, dir, "/w", "-p", "-r", tui1, "--fork-session", "--session-id="+alive)}, alive, discover.Strong},
		{"fork", []proc.Facts{native329(200, 2000, dir, "/w", "-p", "-r", tui1, "--fork-session")}, "", 0},
		{"nothing", []proc.Facts{own}, "", 0},
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

// Print mode of 2.1.75 leaves no trace but what it writes.
func TestDirectoryIsWeakEvidence(t *testing.T) {
	dir, cwd := home(t, "16-tui-clear-stale-id-2.1.75"), "/srv/claude-lab/w/t2.1.75"
	must(t, os.RemoveAll(filepath.Join(dir, "sessions")))
	got := sessions(claims(t, dir, node112(300, 155341, dir, cwd)))
	if len(got) != 2 || got[0].Strength != discover.Weak || got[0].Kind != "cwd" {
		t.Errorf("one claim for each transcript written since: %+v", got)
	}
	started := uint64(newestRecord(t, got[0].Path).Sub(bootTime)/(10*time.Millisecond)) + 2000
	if got := sessions(claims(t, dir, node112(300, started, dir, cwd))); len(got) != 0 {
		t.Errorf("started after both: %+v", got)
	}
}

func TestAnotherUsersProcess(t *testing.T) {
	f := process0(100, 1000, "/h", "/w")
	f.Name, f.Arguments = "claude", []string{"claude"}
	p, _ := proc.Of(f).PID(100)
	denied := &fs.PathError{Op: "open", Path: "/proc/100/environ", Err: os.ErrPermission}
	x := process{Process: p, unreadable: "another user's process: " + denied.Error()}
	if c := x.presence(); c.Unreadable == "" {
		t.Error("the presence does not say that it is unreadable")
	}
	f.Exe, f.Err = "/opt/claude", denied
	got := claims(t, t.TempDir(), f)
	if len(got) != 1 || got[0].Session != "" || !strings.Contains(got[0].Unreadable, "permission denied") {
		t.Errorf("claims %+v", got)
	}
	f.Err = proc.ErrGone
	if got := claims(t, t.TempDir(), f); len(got) != 0 {
		t.Errorf("a process that vanished: %+v", got)
	}
}

func TestSuspendedProcess(t *testing.T) {
	dir := home(t, "09-two-processes-one-session-2.1.197")
	f := native329(4045, 199670, dir, "/srv/claude-lab/w/alive")
	f.State = 'T'
	for _, c := range claims(t, dir, f) {
		if c.Meta["suspended"] != true {
			t.Errorf("claim %+v", c)
		}
	}
}

func TestDamagedRegistryEntry(t *testing.T) {
	for content, warned := range map[string]int{
		"": 0, "{": 1, "\x00\x00": 1, `{"pid":"x"}`: 1, `[]`: 1,
		`{"pid":100,"sessionId":"` + alive + `","procStart":"1000","version":"2.1.197","cwd":"/w"}garbage of the last rewrite`: 0,
	} {
		dir := t.TempDir()
		must(t, os.MkdirAll(dir+"/sessions", 0o700))
		must(t, os.WriteFile(entryPath(dir, 100), []byte(content), 0o600))
		f := native329(100, 1000, dir, "/w")
		f.Environ = map[string]string{configKey: dir}
		got, err := New().Claims(context.Background(), proc.Of(f), []discover.Home{{Dir: dir}})
		if w := warningsIn(t, err); len(w) != warned || warned > 0 && w[0].Path != entryPath(dir, 100) {
			t.Errorf("%q: warnings %v", content, w)
		}
		if len(got) == 0 || got[0].Session != "" {
			t.Errorf("%q: the process is gone: %+v", content, got)
		}
		if strings.HasSuffix(content, "rewrite") && len(got) != 2 {
			t.Errorf("%q: claims %+v", content, got)
		}
	}
}

func TestMark(t *testing.T) {
	for _, c := range []struct {
		env map[string]string
		ok  bool
	}{
		{map[string]string{markKey: "1", sessionKey: alive}, true},
		{map[string]string{sessionKey: alive}, false},
		{map[string]string{markKey: "1"}, false},
		{map[string]string{markKey: "1", sessionKey: "x"}, false},
	} {
		id, ok := New().Mark(func(k string) string { return c.env[k] })
		if ok != c.ok || ok && id != alive {
			t.Errorf("%v: %q, %v", c.env, id, ok)
		}
	}
}

func TestCanceledClaims(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New().Claims(ctx, proc.Of(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
