package discover

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"agentctl/proc"
	"agentctl/tests/must"
)

func TestGroup(t *testing.T) {
	root := t.TempDir()
	git, tree := filepath.Join(root, "repo/.git/worktrees/x"), filepath.Join(root, "repo-try-g-1-cc")
	for path, text := range map[string]string{
		git + "/HEAD": "ref: refs/heads/try/g-1/cc\n", tree + "/.git": "gitdir: " + git + "\n", tree + "/sub/file": "",
		root + "/a-try-b/.git": "nonsense",
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for _, tc := range []struct{ branch, dir, want string }{
		{"try/g-2/codex", "", "g-2"},
		{"try/g-2/codex", tree, "g-2"},
		{"main", tree, "g-1"},
		{"", tree + "/sub", "g-1"},
		{"", root, ""},
		{"", root + "/a-try-b", ""},
		{"", "/gone-try-x", ""},
		{"", "relative-try-x", ""},
		{"try/g-2", "", ""},
		{"mine", "/gone/repo-try-g-3--mine/sub", "g-3"},
		{"", "/gone/repo-try-g-3--a-b--c", "g-3"},
		{"try/g-2/codex", "/gone/repo-try-g-3--mine", "g-2"},
		{"", "/gone/repo-try-g-3--", ""},
		{"", "/gone/repo-try---mine", ""},
		{"", "/gone/repo-try-a/b--c", ""},
	} {
		s := Session{Record: &Record{Branch: tc.branch, Dir: tc.dir}}
		if got := groupOf(&s); got != tc.want {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}

// The .git of a recorded directory can be anything: opening a FIFO would wait for its writer, and a file without an end would
// fill the memory.
func TestGroupOfHostileDirectories(t *testing.T) {
	root := t.TempDir()
	in := func(name string, file func(path string) error) string {
		dir := filepath.Join(root, name+"-try-g")
		must.Do(t, errors.Join(os.Mkdir(dir, 0o755), file(filepath.Join(dir, ".git"))))
		return dir
	}
	fifo := func(path string) error { return unix.Mkfifo(path, 0o600) }
	endless := func(path string) error { return os.Symlink("/dev/zero", path) }
	hole := func(path string) error {
		return errors.Join(os.WriteFile(path, []byte("gitdir: x"), 0o600), os.Truncate(path, 1<<40))
	}
	dirs := []string{in("fifo", fifo), in("endless", endless), in("hole", hole)}
	for _, head := range []func(string) error{fifo, endless, hole} {
		dir := filepath.Join(root, fmt.Sprintf("%d-head-try-g", len(dirs)))
		text := []byte("gitdir: " + dir + "\n")
		must.Do(t, errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, ".git"), text, 0o600), head(filepath.Join(dir, "HEAD"))))
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		done := make(chan string, 1)
		go func() { done <- groupOf(&Session{Record: &Record{Dir: dir}}) }()
		select {
		case group := <-done:
			if group != "" {
				t.Errorf("%s: %q", dir, group)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: still being read", dir)
		}
	}
}

// The order is total: sessions in any order are sorted into one.
func TestSortIsTheOrderOfCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Session {
			at := func(label string) time.Time {
				return rapid.SampledFrom([]time.Time{
					{},
					time.UnixMilli(0), time.UnixMilli(-5), time.UnixMicro(1_750_000_000_000_001), time.UnixMicro(1_750_000_000_000_002),
					time.UnixMilli(1_750_000_000_001), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
				}).Draw(t, label)
			}
			s := Session{
				Record: &Record{ID: rapid.SampledFrom(testIDs).Draw(t, "id"), Created: at("created"), Updated: at("updated")},
				Status: rapid.SampledFrom([]Status{Running, Stopped, Stopped, Unknown}).Draw(t, "status"),
			}
			if s.Status.Live() {
				s.Processes = []proc.Process{{Started: at("started"), ID: proc.ID{PID: rapid.IntRange(1, 3).Draw(t, "pid")}}}
			}
			return s
		})).Draw(t, "sessions")
		shuffled := slices.Clone(list)
		slices.Reverse(shuffled)
		want := sorted(shuffled)
		for i, s := range sorted(list) {
			if Compare(s, want[i]) != 0 {
				t.Fatalf("%d: %v, want %v", i, s, want[i])
			}
			if i > 0 && want[i-1].Status.Live() != s.Status.Live() && s.Status.Live() {
				t.Fatalf("%d: a live session follows a stopped one", i)
			}
		}
	})
}
