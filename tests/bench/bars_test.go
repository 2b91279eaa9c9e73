package main

import (
	"errors"
	"os"
	"path/filepath"
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
	jobs := []*job{
		made(hello, 0, 1, 200, 3e6), made(version, 0, 1.5, 250, 6e6),
		made(live, 10, 4, 500, 8e6), made(live, 1000, 4.4, 510, 8e6), made(guard, 1000, 4.5, 530, 8e6),
		made(findTree, 1000, 10, 4000, 5e6), made(listAll, 1000, 25, 9000, 30e6), made(newest, 1000, 8, 3000, 10e6),
		made(wcLines, 1000, 40, 9000, 3e6), made(tokens, 1000, 30, 9000, 20e6),
	}
	for _, agent := range agents() {
		jobs = append(jobs, made(status+agent, 1000, 3, 400, 8e6), made(peek+agent, 1000, 5, 400, 8e6))
	}
	return jobs
}

func verdicts(t *testing.T, jobs []*job) (text string, missed int) {
	t.Helper()
	var out strings.Builder
	missed = printBars(&out, storeBars(jobs, 10, 1000))
	return out.String(), missed
}

func TestBarsMet(t *testing.T) {
	text, missed := verdicts(t, measured())
	if missed != 0 || strings.Count(text, "| met |") != 15 || !strings.Contains(text, "| … system calls a session | 9.00 | ≤ 10 | met |") {
		t.Errorf("%d missed:\n%s", missed, text)
	}
}

// A yardstick's times beside a job count for that job, whatever it took elsewhere.
func TestRatiosAreOfWhatRanBeside(t *testing.T) {
	jobs := measured()
	all := find(jobs, listAll, 1000)
	all.yardstick, all.beside = findTree, []time.Duration{1e6, 5e6, 6e6}
	if text, missed := verdicts(t, jobs); missed != 1 || !strings.Contains(text, "5.00 | ≤ 4 | NOT MET") {
		t.Errorf("%d missed:\n%s", missed, text)
	}
}

func TestEveryStoreBarCanFail(t *testing.T) {
	slow := func(name string, ms float64) func([]*job) {
		return func(jobs []*job) { find(jobs, name, 1000).times = made("", 0, ms, 0, 0).times }
	}
	for what, spoil := range map[string]func([]*job){
		"`version` ÷":              func(jobs []*job) { find(jobs, hello, 0).times = made("", 0, 0.5, 0, 0).times },
		"none live":                slow(live, 9),
		"--json` ÷":                slow(listAll, 41),
		"system calls a session":   func(jobs []*job) { find(jobs, listAll, 1000).syscalls = 10_001 },
		"KB read a session":        func(jobs []*job) { find(jobs, listAll, 1000).read = 33e6 },
		"MB resident":              func(jobs []*job) { find(jobs, listAll, 1000).rss = 61e6 },
		"-n 20":                    slow(newest, 11),
		"`status` of a full ID":    slow(status+"opencode", 8),
		"`peek` of a full ID":      slow(peek+"codex", 8),
		"--tokens":                 slow(tokens, 81),
		"`guard` ÷":                slow(guard, 7),
		"÷ `version`, claude-code": func(jobs []*job) { find(jobs, status+"claude-code", 1000).failure = "exit 1" },
	} {
		jobs := measured()
		spoil(jobs)
		text, missed := verdicts(t, jobs)
		if missed != 1 {
			t.Errorf("%s: %d missed:\n%s", what, missed, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "NOT ") && !strings.Contains(line, what) {
				t.Errorf("%s: %s", what, line)
			}
		}
	}
}

// What is too large, or was not measured, is missed.
func TestBinaryBar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if _, err := binaryBar(path); err == nil {
		t.Error("no error without a binary")
	}
	for size, met := range map[int64]bool{18_000_000: true, 18_000_001: false} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
		if b, err := binaryBar(path); err != nil || b.met() != met {
			t.Errorf("%d: %+v, %v", size, b, err)
		}
	}
}

// A job that is timed to its first row does not count what comes after, and fails without one.
func TestFirstRow(t *testing.T) {
	const after = 200 * time.Millisecond
	j := &job{argv: []string{"sh", "-c", "echo row; sleep 0.2"}, first: true}
	began := time.Now()
	if took, whole := j.time(), time.Since(began); took > whole-after/2 || j.failure != "" {
		t.Errorf("%v of %v, %s", took, whole, j.failure)
	}
	none := &job{argv: []string{"true"}, first: true}
	if none.time(); none.failure == "" {
		t.Error("no row is no failure")
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
