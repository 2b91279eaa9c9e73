//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/cmd"
	"agentctl/internal/cmdutil"
	"agentctl/tests/store/generate"
	"agentctl/tests/trace"
)

// world is a store and the program to read it with. Its counts are of calls on the agents' files alone, and so the
// same on any machine.
type world struct {
	agentctl string
	home     string
	sessions []generate.Session
}

// worlds makes two stores of real size, one ten times as large as the other.
func worlds(t *testing.T) (small, large world) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "agentctl")
	if out, err := exec.Command("../build", bin).CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	made := func(n int) world {
		o := generate.Defaults()
		o.Sessions = n
		home, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		sessions, err := generate.Store(home, o)
		if err != nil {
			t.Fatal(err)
		}
		return world{bin, home, sessions}
	}
	return made(40), made(400)
}

// seen is what one command did: all its calls, and those below the agents' homes.
type seen struct {
	all    []trace.Call
	calls  []trace.Call
	stdout []byte
	rss    int64
	// table is how often the process table was opened.
	table int
}

// run traces agentctl. It must succeed, say nothing on stderr, and change nothing.
func (w world) run(t *testing.T, args ...string) seen {
	t.Helper()
	j := job{argv: append([]string{w.agentctl}, args...), home: w.home}
	cmd := j.command()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	r, err := trace.Run(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if r.Exit != 0 || stderr.Len() > 0 {
		t.Fatalf("agentctl %q: exit %d\n%s", args, r.Exit, stderr.String())
	}
	if changes := r.Changes(w.home); len(changes) > 0 {
		t.Errorf("agentctl %q changes what it reads: %+v", args, changes)
	}
	claude, codex, opencode := generate.Homes(w.home)
	table := 0
	for _, c := range r.Calls {
		if c.Name == "openat" && c.Path == "/proc" {
			table++
		}
	}
	return seen{r.Calls, r.Below(claude, codex, opencode), stdout.Bytes(), r.PeakRSS, table}
}

// allocations runs a command in this process, and counts how often it takes memory from the heap.
func (w world) allocations(t *testing.T, args ...string) float64 {
	t.Helper()
	env := cmdutil.NewFactory("")
	env.Stdout, env.Stderr = io.Discard, io.Discard
	env.Getenv = func(key string) string { return map[string]string{"HOME": w.home}[key] }
	env.Width, env.Interactive, env.Terminal = 0, false, false
	return testing.AllocsPerRun(2, func() {
		if code := cmd.Main(append([]string{"agentctl"}, args...), env); code != 0 {
			t.Errorf("agentctl %q: exit %d", args, code)
		}
	})
}

// initial counts what the packages take from the heap before main begins, as the runtime tells it. None of our own does
// anything there: it would be done for verbs that are not called.
func initial(t *testing.T, agentctl string) (count, bytes int) {
	t.Helper()
	cmd := exec.Command(agentctl, "version")
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.HasPrefix(line, "init agentctl") {
			t.Errorf("initialised for every verb: %s", line)
		}
		var size, n int
		_, rest, _ := strings.Cut(line, "clock, ") // init os @0.4 ms, 0.1 ms clock, 432 bytes, 9 allocs
		if _, err := fmt.Sscanf(rest, "%d bytes, %d allocs", &size, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		count, bytes = count+n, bytes+size
	}
	return count, bytes
}

// opened are the transcripts and rollouts that were opened.
func (w world) opened(s seen) []string {
	known := map[string]bool{}
	for _, session := range w.sessions {
		known[session.Path] = filepath.Ext(session.Path) == ".jsonl"
	}
	return slices.DeleteFunc(trace.Opened(s.calls), func(path string) bool { return !known[path] })
}

// names counts calls by name, for messages.
func (s seen) names() map[string]int {
	out := map[string]int{}
	for _, c := range s.calls {
		out[c.Name]++
	}
	return out
}

// The gates of speed that no machine's speed can change.
func TestCounts(t *testing.T) {
	small, large := worlds(t)
	n := len(large.sessions)

	t.Run("list does not depend on the size of the store", func(t *testing.T) {
		a, b := small.run(t, "list"), large.run(t, "list")
		if !maps.Equal(a.names(), b.names()) {
			t.Errorf("%d sessions: %v; %d sessions: %v", len(small.sessions), a.names(), n, b.names())
		}
		if files := large.opened(b); len(files) > 0 {
			t.Errorf("nothing lives, and yet it opens %q", files)
		}
	})

	t.Run("list of what lives", func(t *testing.T) { listOfWhatLives(t, small, large) })

	t.Run("list beside sub-agents", func(t *testing.T) { listBesideSubagents(t, small) })

	t.Run("guard looks once, whatever the size of the store", func(t *testing.T) {
		a, b, list := small.run(t, "guard", small.home), large.run(t, "guard", large.home), large.run(t, "list")
		if !maps.Equal(a.names(), b.names()) {
			t.Errorf("%d sessions: %v; %d sessions: %v", len(small.sessions), a.names(), n, b.names())
		}
		if !maps.Equal(b.names(), list.names()) {
			t.Errorf("guard: %v; list: %v", b.names(), list.names())
		}
		if b.table != 1 {
			t.Errorf("it reads the process table %d times", b.table)
		}
	})

	t.Run("list -a of everything", func(t *testing.T) {
		s := large.run(t, "list", "-a", "--since", "all", "--json")
		checkRows(t, s.stdout, large.sessions)
		const perSession, bytesPerSession, memory = 10, 32_000, 30_000_000
		t.Logf("%.2f calls and %d bytes a session, %.1f MB resident; %v",
			float64(len(s.calls))/float64(n), trace.BytesRead(s.calls)/int64(n), float64(s.rss)/1e6, s.names())
		if len(s.calls) > perSession*n {
			t.Errorf("%d calls for %d sessions, more than %d each: %v", len(s.calls), n, perSession, s.names())
		}
		if read := trace.BytesRead(s.calls); read > bytesPerSession*int64(n) {
			t.Errorf("%d bytes read for %d sessions, more than %d each", read, n, bytesPerSession)
		}
		if s.rss > memory {
			t.Errorf("%d bytes resident", s.rss)
		}
		if files := large.opened(s); len(files) > n {
			t.Errorf("%d files opened", len(files))
		}
	})

	t.Run("list -a --tokens looks through a folder once", func(t *testing.T) {
		s := large.run(t, "list", "-a", "--since", "all", "--tokens", "--json")
		checkRows(t, s.stdout, large.sessions)
		const perSession, folders = 10, 2 // one look for its sessions, one for what lies beside them
		t.Logf("%.2f calls a session; %v", float64(len(s.calls))/float64(n), s.names())
		if len(s.calls) > perSession*n {
			t.Errorf("%d calls for %d sessions, more than %d each: %v", len(s.calls), n, perSession, s.names())
		}
		looks := map[string]int{}
		for _, c := range s.calls {
			if c.Name == "openat" && filepath.Base(filepath.Dir(c.Path)) == "projects" {
				looks[c.Path]++
			}
		}
		for folder, n := range looks {
			if n > folders {
				t.Errorf("%s is opened %d times", folder, n)
			}
		}
		if len(looks) == 0 {
			t.Error("no project folder is opened")
		}
	})

	t.Run("list -a makes little garbage", func(t *testing.T) {
		// 27 while Codex and OpenCode kept a memory of texts that sessions share; without it the code is 180 lines shorter.
		const perSession = 45 + raceAllocations
		count := large.allocations(t, "list", "-a", "--since", "all", "--json") / float64(n)
		t.Logf("%.1f allocations a session", count)
		if count > perSession {
			t.Errorf("%.1f allocations a session, more than %d", count, perSession)
		}
	})

	t.Run("what is not called costs nothing", func(t *testing.T) {
		const allocations, size = 300, 64_000
		count, bytes := initial(t, small.agentctl)
		t.Logf("%d allocations of %d bytes before main", count, bytes)
		if count == 0 || count > allocations || bytes > size {
			t.Errorf("%d allocations of %d bytes before main, more than %d of %d", count, bytes, allocations, size)
		}
		const ofVersion = 450 // 270 now, nearly all of them the library's, and 370 with the race detector; 585 with the flags of all verbs
		made := small.allocations(t, "version")
		t.Logf("%.0f allocations for version", made)
		if made > ofVersion {
			t.Errorf("%.0f allocations for version, more than %d", made, ofVersion)
		}
	})

	t.Run("list -a -n opens few files", func(t *testing.T) {
		s := large.run(t, "list", "-a", "--since", "all", "-n", "20", "--json")
		newest := slices.Clone(large.sessions)
		slices.SortStableFunc(newest, func(a, b generate.Session) int { return b.Updated.Compare(a.Updated) })
		checkRows(t, s.stdout, newest[:20])
		if files := large.opened(s); len(files) > 20 {
			t.Errorf("%d files opened for 20 rows", len(files))
		}
	})

	for _, agent := range []string{"claude-code", "codex", "opencode"} {
		t.Run("status opens the one file: "+agent, func(t *testing.T) {
			i := slices.IndexFunc(large.sessions, func(s generate.Session) bool { return s.Agent == agent })
			want := large.sessions[i]
			other := bystander(t)
			s := large.run(t, "status", want.ID, "--json")
			var got struct{ ID, Path string }
			if err := json.Unmarshal(s.stdout, &got); err != nil || got.ID != want.ID || got.Path != want.Path {
				t.Errorf("%+v (%v), want %+v", got, err, want)
			}
			for _, file := range large.opened(s) {
				if file != want.Path {
					t.Errorf("opens %s", file)
				}
			}
			if opened := opens(s.all, other); len(opened) != 1 || opened["environ"] != 1 {
				t.Errorf("of a process that is no agent are opened %v", opened)
			}
		})
	}

	t.Run("status of a long life opens others for a page", large.statusOfALongLife)
}

// statusOfALongLife: whose sub-agent a Codex thread is stands in itself alone. Of all that was begun while a session was at
// work, status reads the first page to see whose it is, and no more.
func (w world) statusOfALongLife(t *testing.T) {
	i := slices.IndexFunc(w.sessions, func(s generate.Session) bool {
		return s.Agent == "codex" && s.Updated.Before(generate.Defaults().End.AddDate(0, -2, 0))
	})
	long := w.sessions[i]
	end := long.Updated.AddDate(0, 1, 0) // it was resumed a month later
	if err := os.Chtimes(long.Path, end, end); err != nil {
		t.Fatal(err)
	}
	s := w.run(t, "status", long.ID, "--json")
	files := w.opened(s)
	for _, path := range files {
		const calls, page = 5, 4096 // its type, open, its type again, the page, close
		own := slices.DeleteFunc(slices.Clone(s.calls), func(c trace.Call) bool { return c.Path != path })
		if read := trace.BytesRead(own); path != long.Path && (len(own) > calls || read > page) {
			t.Errorf("%s: %d calls, %d bytes", path, len(own), read)
		}
	}
	t.Logf("%d files opened, %d bytes read", len(files), trace.BytesRead(s.calls))
	if len(files) < 4 || len(files) > len(w.sessions)/10 {
		t.Errorf("%d of %d files are opened", len(files), len(w.sessions))
	}
}

// checkRows compares the rows' ids, in whatever order, with the sessions'.
func checkRows(t *testing.T, raw []byte, want []generate.Session) {
	t.Helper()
	var rows []struct{ ID, Adapter, Status string }
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatalf("%v: %.300s", err, raw)
	}
	got := map[string]string{}
	for _, r := range rows {
		got[r.ID] = r.Adapter
		if r.Status != "stopped" {
			t.Errorf("%s %s is %s", r.Adapter, r.ID, r.Status)
		}
	}
	for _, s := range want {
		if got[s.ID] != s.Agent {
			t.Errorf("no row of %s %s", s.Agent, s.ID)
		}
	}
	if len(rows) != len(want) {
		t.Errorf("%d rows, want %d", len(rows), len(want))
	}
}
