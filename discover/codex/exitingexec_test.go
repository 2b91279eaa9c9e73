package codex

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// An exec that has closed its thread's files, but has not exited, claims the thread of an exec that began in its directory after it did and
// whose turn has ended.
func TestExitingExec(t *testing.T) {
	before := time.Date(2026, 11, 20, 19, 9, 0, 0, time.UTC) // threadA's id says five seconds later
	meta := strings.Replace(metaLine, `"cwd":`, `"source":"exec","cwd":`, 1)
	turn := []string{meta, startedLine, contextLine, askedLine, answerLine}
	whole := append(slices.Clip(turn), completeLine)
	size := func(lines []string) int64 { return int64(len(rollout(lines...))) }
	for name, test := range map[string]struct {
		args    []string
		started time.Time
		lines   []string
		wrote   int64
		claimed bool
	}{
		"its turn is over":           {[]string{"exec", "hi"}, before, whole, 0, true},
		"it wrote enough":            {[]string{"exec", "hi"}, before, whole, minWriteRatio * size(whole), true},
		"it has hardly started":      {[]string{"exec", "hi"}, before, whole, size(whole), false},
		"its turn goes on":           {[]string{"exec", "hi"}, before, turn, 0, false},
		"it was begun before":        {[]string{"exec", "hi"}, before.Add(time.Minute), whole, 0, false},
		"in another directory":       {[]string{"exec", "-C", "/elsewhere", "hi"}, before, whole, 0, false},
		"in a terminal":              {[]string{"exec", "hi"}, before, append([]string{strings.Replace(meta, `"exec"`, `"cli"`, 1)}, whole[1:]...), 0, false},
		"it resumes another":         {[]string{"exec", "resume", threadB, "hi"}, before, whole, 0, false},
		"a terminal":                 {nil, before, whole, 0, false},
		"when it began is not known": {[]string{"exec", "hi"}, time.Time{}, whole, 0, false},
	} {
		w := newTestHome(t)
		lines := strings.ReplaceAll(string(rollout(test.lines...)), someID, threadA)
		path := w.file("sessions/2026/11/20/"+nameA, lines)
		p := w.process(8, 1, npmExe, test.args)
		p.Started, p.WrittenBytes = test.started, test.wrote
		claimed := false
		for _, c := range w.claims() {
			if c.Session == threadA {
				claimed = true
				if c.Kind != "cwd" || c.Path != path || c.Home != filepath.Clean(w.home) {
					t.Errorf("%s: %+v", name, c)
				}
			}
		}
		if claimed != test.claimed {
			t.Errorf("%s: claimed %v, want %v", name, claimed, test.claimed)
		}
	}
}

// In a home with the database of the threads' messages, an exec that does not have it open has not begun its thread. It does not claim a
// thread that another exec has ended in its directory, however much it has written.
func TestStartingExec(t *testing.T) {
	meta := strings.Replace(metaLine, `"cwd":`, `"source":"exec","cwd":`, 1)
	lines := strings.ReplaceAll(string(rollout(meta, startedLine, contextLine, askedLine, answerLine, completeLine)), someID, threadA)
	for _, has := range []bool{true, false} {
		w := newTestHome(t)
		w.file("sessions/2026/11/20/"+nameA, lines)
		var open []proc.OpenFile
		if history := w.file("thread_history_1.sqlite", ""); has {
			open = append(open, proc.OpenFile{FD: 30, Path: history, Writable: true})
		}
		p := w.process(8, 1, npmExe, []string{"exec", "hi"}, open...)
		p.Started, p.WrittenBytes = time.Date(2026, 11, 20, 19, 9, 0, 0, time.UTC), 1<<30
		claimed := slices.ContainsFunc(w.claims(), func(c discover.Claim) bool { return c.Session == threadA })
		if claimed != has {
			t.Errorf("with the database open (%v) it is claimed (%v)", has, claimed)
		}
	}
}
