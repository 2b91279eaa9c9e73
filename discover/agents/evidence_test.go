package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// heldWorld is stores of Codex and processes at random: what is stored where, under which names, and who has it open how.
type heldWorld struct {
	dir       string
	homes     []string // the first is ours by the environment, the second by the configuration; the third only processes name
	rollouts  []string // by thread; one file may have several names
	processes []proctest.Process
	// held are the threads whose rollout a live process of our user has open for writing, or whose lock it holds.
	held map[int]bool
}

const threadFormat = "01a20cff-7d00-7d3b-9b4a-1d2c3b4a59%02d"

var openTurn = `{"timestamp":"2026-11-24T10:00:00.000Z","type":"session_meta","payload":{"id":"%[1]s","timestamp":"2026-11-24T10:00:00.000Z","cwd":"/w","originator":"codex-tui","cli_version":"0.137.0","source":"cli"}}
{"timestamp":"2026-11-24T10:00:01.000Z","type":"event_msg","payload":{"type":"task_started"}}
{"timestamp":"2026-11-24T10:00:02.000Z","type":"event_msg","payload":{"type":"user_message","message":"hello"}}
`

var endOfTurn = `{"timestamp":"2026-11-24T10:00:09.000Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":"done"}}
`

func drawHeldWorld(t *rapid.T, dir string) *heldWorld {
	w := &heldWorld{dir: dir, held: map[int]bool{}}
	day := "sessions/2026/11/24"
	for i := range 3 {
		home := filepath.Join(dir, fmt.Sprintf("home%d", i))
		w.homes = append(w.homes, home)
		must.Do(t, os.MkdirAll(filepath.Join(home, "thread-writer-locks"), 0o700))
		if i > 0 && rapid.Bool().Draw(t, "shared store") {
			must.Do(t, os.Symlink(filepath.Join(w.homes[0], "sessions"), filepath.Join(home, "sessions")))
		} else {
			must.Do(t, os.MkdirAll(filepath.Join(home, day), 0o700))
		}
	}
	var names [][]string // of each rollout
	for i := range rapid.IntRange(1, 4).Draw(t, "threads") {
		id := fmt.Sprintf(threadFormat, i)
		base := "rollout-2026-11-24T10-00-00-" + id + ".jsonl"
		text := fmt.Sprintf(openTurn, id)
		if rapid.Bool().Draw(t, "turn has ended") {
			text += endOfTurn
		}
		path := filepath.Join(w.homes[rapid.IntRange(0, 1).Draw(t, "home")], day, base)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		w.rollouts, names = append(w.rollouts, path), append(names, []string{path})
		if other := filepath.Join(w.homes[2], day, base); rapid.Bool().Draw(t, "hard link") {
			if os.Link(path, other) == nil { // else the store is shared, and has it
				names[i] = append(names[i], other)
			}
		}
	}
	for n := range rapid.IntRange(0, 4).Draw(t, "processes") {
		p := proctest.Process{Process: proc.Process{
			ID: proc.ID{PID: 100 + n, Birth: "now"}, State: 'S', Parent: 1, Ticks: uint64(n + 1), Started: time.Unix(int64(n+1), 0).UTC(),
			Exe: "/opt/" + rapid.SampledFrom([]string{"codex", "codex-raw", ".codex-unwrapped", "codex-acp", "oc", "foo", "node"}).Draw(t, "program"),
			UID: rapid.SampledFrom([]int{os.Geteuid(), os.Geteuid(), os.Geteuid() + 1}).Draw(t, "user"),
		}, WorkingDir: "/w"}
		p.Name = filepath.Base(p.Exe)
		p.Arguments = append([]string{p.Name}, rapid.SampledFrom([][]string{nil, {"exec", "hi"}, {"app-server"}, {"login"}, {"x", "-y"}}).Draw(t, "arguments")...)
		if home := rapid.IntRange(-1, 2).Draw(t, "its home"); home >= 0 {
			p.Environ = map[string]string{"CODEX_HOME": w.homes[home]}
		}
		for fd := range rapid.IntRange(0, 3).Draw(t, "open files") {
			thread := rapid.IntRange(0, len(names)-1).Draw(t, "thread")
			f := proc.OpenFile{FD: fd + 3, Path: rapid.SampledFrom(names[thread]).Draw(t, "name")}
			switch rapid.SampledFrom([]string{"reads", "writes", "locks"}).Draw(t, "how") {
			case "writes":
				f.Writable = true
			case "locks":
				f.Path = filepath.Join(filepath.Dir(w.rollouts[thread]), "../../../../thread-writer-locks", fmt.Sprintf(threadFormat, thread)+".lock")
				f.Writable, f.WriteLocked = true, true
				must.Do(t, os.WriteFile(f.Path, nil, 0o600))
			}
			p.Files = append(p.Files, f)
			if f.Writable && p.UID == os.Geteuid() {
				w.held[thread] = true
			}
		}
		w.processes = append(w.processes, p)
	}
	return w
}

func (w *heldWorld) scanner() *discover.Scanner {
	env := map[string]string{"CODEX_HOME": w.homes[0], "HOME": filepath.Join(w.dir, "user")}
	return &discover.Scanner{
		Adapters: All(),
		HomeSources: func(a discover.Agent) discover.HomeSources {
			s := discover.HomeSources{Getenv: func(key string) string { return env[key] }}
			if a == "codex" {
				s.Configured = w.homes[1:2]
			}
			return s
		},
		ReadTable: func(context.Context, bool) (*proc.Table, error) { return proctest.NewTable(w.processes...), nil },
		UID:       os.Geteuid(), PID: os.Getpid(),
	}
}

// Whatever a program is called, and under whatever names a rollout is seen: no session is called stopped, and none is resumed, whose file
// a live process of our user has open for writing, or locks. One file is one row. What nobody holds is stopped.
func TestWhatIsHeldIsLive(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "world")
		must.Do(t, err)
		defer os.RemoveAll(dir)
		w := drawHeldWorld(t, dir)
		list, err := w.scanner().List(context.Background(), discover.SessionFilter{IncludeStopped: true, Subagents: true})
		must.Do(t, err)
		for i := range w.rollouts {
			id := fmt.Sprintf(threadFormat, i)
			rows := 0
			for _, s := range list.Sessions {
				if s.ID != id {
					continue
				}
				if rows++; w.held[i] && s.Status == discover.Stopped {
					t.Errorf("%s is held, and listed as stopped: %s", id, s.Reason)
				} else if !w.held[i] && s.Status.Live() {
					t.Errorf("%s is held by nobody, and listed as %s: %s", id, s.Status, s.Reason)
				}
			}
			if rows != 1 {
				t.Errorf("%s has %d rows", id, rows)
			}
			found, err := w.scanner().Find(context.Background(), id, nil, discover.ReadOptions{})
			if err != nil || len(found.Sessions) != 1 || (found.Sessions[0].Status == discover.Stopped) == w.held[i] {
				t.Errorf("%s, held %v: found as %+v, %v", id, w.held[i], found.Sessions, err)
				continue
			}
			session := found.Sessions[0]
			session.Status = discover.Stopped // as an earlier look may have had it
			a := launch.AdapterOf(All(), "codex")
			session.Dir = dir
			plan, err := launch.Planner{
				Scanner: w.scanner(), Getenv: w.scanner().HomeSources("codex").Getenv, Environ: []string{"PATH=" + fakeProgram(t, dir), "CODEX_HOME=" + w.homes[0]}, Now: time.Now, Force: true,
			}.Plan(context.Background(), a, launch.Request{Resume: &session, Dir: dir, Prompt: "go on"})
			plan.Release()
			if _, live := errors.AsType[*launch.LiveError](err); live != w.held[i] {
				t.Errorf("%s, held %v: resume says %v", id, w.held[i], err)
			}
		}
	})
}

// fakeProgram returns a directory with a program called codex.
func fakeProgram(t *rapid.T, dir string) string {
	bin := filepath.Join(dir, "bin")
	must.Do(t, errors.Join(os.MkdirAll(bin, 0o700), os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\n"), 0o700)))
	return bin
}
