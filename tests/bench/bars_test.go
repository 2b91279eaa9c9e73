package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"agentctl/tests/sandbox"
)

func TestMain(m *testing.M) {
	if code, played := playing(); played {
		os.Exit(code)
	}
	if code, ran := sandbox.Enter(sandbox.Processes); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// made is a job that was timed and counted.
func made(name string, sessions int, ms float64, syscalls int, rss int64) *job {
	return &job{
		name: name, sessions: sessions, syscalls: syscalls, rss: rss,
		times: []time.Duration{time.Duration(ms * 1e6), time.Duration(ms * 1e6), time.Hour},
	}
}

func measured() []*job {
	return []*job{
		made(hello, 0, 1, 200, 3e6), made(version, 0, 1.5, 250, 6e6),
		made(live, 10, 4, 500, 8e6), made(live, 1000, 4.4, 510, 8e6),
		made(guard, 10, 4.2, 520, 8e6), made(guard, 1000, 4.5, 530, 8e6),
		made(findTree, 1000, 10, 4000, 5e6), made(listAll, 1000, 25, 9000, 30e6),
		made(newest, 1000, 8, 3000, 10e6), made(week, 1000, 9, 3000, 10e6), made(wcLines, 1000, 40, 9000, 3e6), made(tokens, 1000, 30, 9000, 20e6),
		made(status+"codex", 1000, 3, 400, 8e6), made(peek+"codex", 1000, 11, 400, 8e6), made(prefix+"claude-code", 1000, 9, 400, 8e6),
	}
}

func verdicts(t *testing.T, jobs []*job) (text string, missed int) {
	t.Helper()
	var out strings.Builder
	missed = printBars(&out, bars(jobs, []int{10, 1000}))
	return out.String(), missed
}

func TestBarsMet(t *testing.T) {
	text, missed := verdicts(t, measured())
	if missed != 0 || strings.Count(text, "bar ") != 8 {
		t.Errorf("%d missed:\n%s", missed, text)
	}
	if !strings.Contains(text, "system calls a session") || !strings.Contains(text, "9.00  ≤  8.00  not met") {
		t.Errorf("the goal of 8 calls a session is missed, and no failure:\n%s", text)
	}
	for _, want := range []string{"peek of a full ID, ms: codex", "11.00  ≤ 10.00  not met", "status of twelve characters, ms: claude-code", "9.00  ≤ 10.00  met"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A yardstick's times beside a job count for that job, whatever it took elsewhere.
func TestRatiosAreOfWhatRanBeside(t *testing.T) {
	jobs := measured()
	all := find(jobs, listAll, 1000)
	all.yardstick, all.beside = findTree, []time.Duration{1e6, 5e6, 6e6}
	if text, missed := verdicts(t, jobs); missed != 1 || !strings.Contains(text, "5.00  ≤  4.00  not met") {
		t.Errorf("%d missed:\n%s", missed, text)
	}
}

func TestEveryBarCanFail(t *testing.T) {
	for what, spoil := range map[string]func([]*job){
		"list grows":           func(jobs []*job) { find(jobs, live, 1000).times[0], find(jobs, live, 1000).times[1] = 9e6, 9e6 },
		"list calls grow":      func(jobs []*job) { find(jobs, live, 1000).syscalls = 700 },
		"guard is slow":        func(jobs []*job) { find(jobs, guard, 1000).times[0], find(jobs, guard, 1000).times[1] = 9e6, 9e6 },
		"guard calls grow":     func(jobs []*job) { find(jobs, guard, 1000).syscalls = 700 },
		"list -a is slow":      func(jobs []*job) { find(jobs, findTree, 1000).times[0], find(jobs, findTree, 1000).times[1] = 6e6, 6e6 },
		"list -a calls":        func(jobs []*job) { find(jobs, listAll, 1000).syscalls = 12_001 },
		"list -a memory":       func(jobs []*job) { find(jobs, listAll, 1000).rss = 61e6 },
		"status is slow":       func(jobs []*job) { find(jobs, version, 0).times[0], find(jobs, version, 0).times[1] = 9e5, 9e5 },
		"a command that fails": func(jobs []*job) { find(jobs, status+"codex", 1000).failure = "exit 1" },
	} {
		jobs := measured()
		spoil(jobs)
		if text, missed := verdicts(t, jobs); missed != 1 {
			t.Errorf("%s: %d missed:\n%s", what, missed, text)
		}
	}
}

func TestTable(t *testing.T) {
	jobs := measured()
	find(jobs, listAll, 1000).yardstick = findTree
	find(jobs, listAll, 1000).failure = "exit 6"
	find(jobs, hello, 0).syscalls = -1
	var out strings.Builder
	if err := printTable(&out, jobs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"25.00", "2.50", "9000", "9.0", "30.0", listAll + " (" + findTree + ")", "–", "FAILED: " + listAll + " (1000 sessions): exit 6"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
