package claudecode

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// A registry file alone proves nothing (S9, S11): it outlives a SIGKILL, and its PID is reused.
func TestStaleRegistryEntryIsNoEvidence(t *testing.T) {
	dir := home(t, "04-tui-sigkill-stale-registry-2.1.197") // pid 569, ticks 110454, "busy"
	cwd := "/srv/claude-lab/w/st_KILL"
	owner := native329(569, 110454, dir, cwd)
	innocent := owner
	innocent.Name, innocent.Exe, innocent.Arguments, innocent.WorkingDir = "sleep", "/usr/bin/sleep", []string{"sleep", "9", tui1}, "/"
	zombie := owner
	zombie.State = 'Z'
	for name, f := range map[string]proc.FakeProcess{
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

// None of 10,000 reused PIDs is taken for the dead process, with procStart or without.
func TestRecycledPIDsAreRejected(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		born := 1 + rng.Uint64N(1<<32)
		later := born + 301 + rng.Uint64N(1<<32) // registering takes a moment, and a clock of seconds is allowed two
		registered := bootTime.Add(time.Duration(born) * 10 * time.Millisecond).Add(500 * time.Millisecond)
		p := native329(4711, later, "/h", "/w").Process
		for _, e := range []registryEntry{
			{PID: 4711, SessionID: alive, StartedAt: registered.UnixMilli(), ProcStart: fmt.Sprint(born)},
			{PID: 4711, SessionID: alive, StartedAt: registered.UnixMilli()},
		} {
			if proof, err := e.validate(p, 4711); err == nil {
				t.Fatalf("born %d, recycled %d: accepted, %s", born, later, proof)
			}
		}
	}
}

// An entry is accepted however long a dialog delayed the registration.
func TestOwnerIsAcceptedWhenRegisteringTookLong(t *testing.T) {
	p := native329(4711, 1000, "/h", "/w").Process
	for _, wait := range []time.Duration{0, time.Second, time.Hour} {
		e := registryEntry{PID: 4711, SessionID: alive, StartedAt: p.Started.Add(wait).UnixMilli()}
		if _, err := e.validate(p, 4711); err != nil {
			t.Errorf("registered after %s: %v", wait, err)
		}
	}
}

// A version before 2.1.129 keeps the first session's ID in its registry entry after /clear; the transcripts show the
// current one.
func TestClearBeforeRegistryFollowsIt(t *testing.T) {
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
			if len(got) != 1 || got[0].Session != c.new || got[0].Strength != discover.Strong || got[0].Kind != "history" {
				t.Fatalf("after /clear: %+v", got)
			}
			// Another such process in the directory changes nothing: the command was typed in this one's session.
			other := node112(c.pid+1, c.ticks+5, dir, c.cwd)
			writeEntry(t, dir, c.pid+1, fmt.Sprintf(`"sessionId":%q,"cwd":%q,"startedAt":%d,"kind":"interactive"`, alive, c.cwd, other.Started.UnixMilli()))
			for _, claim := range sessions(claims(t, dir, own, other)) {
				if mine := claim.Process == own.ID; mine != (claim.Session == c.new) || !mine && claim.Session != alive {
					t.Errorf("with a second process: %+v", claim)
				}
			}
			// Without the history nobody knows.
			history, err := os.ReadFile(filepath.Join(dir, "history.jsonl"))
			must(t, err)
			must(t, os.Remove(filepath.Join(dir, "history.jsonl")))
			for _, claim := range sessions(claims(t, dir, own)) {
				if claim.Strength != discover.Weak {
					t.Errorf("without the history: %+v", claim)
				}
			}
			must(t, os.WriteFile(filepath.Join(dir, "history.jsonl"), history, 0o600))
			// After the way back (/resume), it is the first session again.
			back := fmt.Sprintf(`{"display":"/resume %s","timestamp":%d,"sessionId":%q}`, c.old, time.Now().UnixMilli(), c.new)
			must(t, os.WriteFile(filepath.Join(dir, "history.jsonl"), append(history, back+"\n"...), 0o600))
			got = sessions(claims(t, dir, own))
			if len(got) != 1 || got[0].Session != c.old || got[0].Strength != discover.Exact {
				t.Errorf("after the return: %+v", got)
			}
		})
	}
}

// Before 2.1.85 the registry entry does not follow /resume either; the history of typed commands shows the session, or
// nothing does.
func TestResumeBeforeRegistryFollowsIt(t *testing.T) {
	dir, cwd := home(t, "16-tui-clear-stale-id-2.1.75"), "/srv/claude-lab/w/t2.1.75"
	raw, err := os.ReadFile(transcriptPath(dir, cwd, "621dd4f6-85b1-4d31-861a-164e326ec2ca"))
	must(t, err)
	resumed := transcriptPath(dir, cwd, alive)
	must(t, os.WriteFile(resumed, []byte(strings.ReplaceAll(string(raw), "2026-11-20T19:25", "2026-11-20T18:25")), 0o600))
	log := filepath.Join(dir, "history.jsonl")
	history, err := os.ReadFile(log)
	must(t, err)
	typed := fmt.Sprintf(`{"display":"/resume %s","timestamp":1795202750000,"sessionId":"c0944497-9d38-4fa9-8c44-037a420209aa"}`, alive)
	must(t, os.WriteFile(log, append(history, typed+"\n"...), 0o600))
	own := node112(28188, 155341, dir, cwd)
	if got := sessions(claims(t, dir, own)); len(got) != 1 || got[0].Session != alive || got[0].Strength != discover.Strong {
		t.Errorf("resumed by name: %+v", got)
	}
	must(t, os.WriteFile(log, append(history, strings.Replace(typed, " "+alive, "", 1)+"\n"...), 0o600))
	for _, claim := range sessions(claims(t, dir, own)) {
		if claim.Strength != discover.Weak {
			t.Errorf("resumed from a list: %+v", claim)
		}
	}
}

// In a container the registry file is named by the PID there, and the paths in the environment are not valid outside.
func TestProcessInAContainer(t *testing.T) {
	dir := t.TempDir()
	writeEntry(t, dir, 1, fmt.Sprintf(`"procStart":"7777","sessionId":%q,"version":"2.1.329","pidDomain":"linux:feed:pid:[4026532454]"`, alive))
	f := native329(5000, 7777, "/nowhere/.claude", "/w")
	f.NSPIDs, f.PIDNS, f.OtherRoot = []int{5000, 1}, "pid:[4026532454]", true
	if got := sessions(claims(t, dir, f)); len(got) != 1 || got[0].Session != alive || got[0].Home != dir {
		t.Errorf("claims %+v", got)
	}
	f.PIDNS = "pid:[4026539999]"
	if got := sessions(claims(t, dir, f)); len(got) != 0 {
		t.Errorf("another namespace: %+v", got)
	}
	if got := New().Homes(discover.HomeSources{Getenv: func(string) string { return "" }}, proc.NewFakeTable(f)); len(got) != 0 {
		t.Errorf("homes %+v: a path of the container is not ours", got)
	}
}

func TestAnotherMachineOnASharedHome(t *testing.T) {
	own := machineID()
	if own == "" {
		own = "none"
	}
	p := native329(5000, 7777, "/h", "/w")
	table := proc.NewFakeTable(p)
	found, _ := table.ByPID(5000)
	e := registryEntry{PID: 5000, ProcStart: "7777", PIDDomain: "linux:" + own + ":pid:[4026531836]"}
	if _, err := e.validate(found, 5000); err != nil {
		t.Errorf("our own: %v", err)
	}
	if e.PIDDomain = "linux:" + strings.Repeat("0", 32) + ":pid:[4026531836]"; machineID() != "" {
		if _, err := e.validate(found, 5000); err == nil {
			t.Error("another machine's entry is accepted")
		}
	}
}

func TestDamagedRegistryEntry(t *testing.T) {
	for content, warned := range map[string]int{
		"": 0, "{": 1, "\x00\x00": 1, `{"pid":"x"}`: 1, `[]`: 1,
		`{"pid":100,"sessionId":"` + alive + `","procStart":"1000","version":"2.1.197","cwd":"/w"}garbage of the last rewrite`:             0,
		`{"pid":100,"sessionId":"` + alive + `","procStart":"1000","version":3,"cwd":[],"status":{},"note":"of odd types, yet a rewrite"}`: 0,
	} {
		dir := t.TempDir()
		must(t, os.MkdirAll(dir+"/sessions", 0o700))
		must(t, os.WriteFile(registryPath(dir, 100), []byte(content), 0o600))
		f := native329(100, 1000, dir, "/w")
		f.Environ = map[string]string{configKey: dir}
		got, err := New().Claims(context.Background(), proc.NewFakeTable(f), []discover.Home{{Dir: dir}})
		if w := warningsIn(t, err); len(w) != warned || warned > 0 && w[0].Path != registryPath(dir, 100) {
			t.Errorf("%q: warnings %v", content, w)
		}
		if len(got) == 0 || got[0].Session != "" {
			t.Errorf("%q: the process is gone: %+v", content, got)
		}
		if strings.Contains(content, "rewrite") && len(got) != 2 {
			t.Errorf("%q: claims %+v", content, got)
		}
	}
}

func FuzzRegistryEntry(f *testing.F) {
	snapshots, err := os.ReadFile(filepath.Join(fixtures, "registry-snapshots.jsonl"))
	must(f, err)
	for line := range bytes.Lines(snapshots) {
		f.Add(bytes.TrimSpace(line), []byte("}"))
	}
	f.Fuzz(func(t *testing.T, raw, leftover []byte) {
		e, err := parseRegistryEntry(raw)
		if err != nil {
			return
		}
		if e.PID <= 0 || !isUUID(e.SessionID) {
			t.Fatalf("accepted without pid or session: %q", raw)
		}
		// A shorter rewrite leaves the end of the longer one behind.
		again, err := parseRegistryEntry(append(bytes.Clone(raw), append([]byte("\n"), leftover...)...))
		if err != nil || again != e {
			t.Fatalf("%q followed by %q: %+v, %v", raw, leftover, again, err)
		}
	})
}
