package agents

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// allocated is what a directory takes on disk, by a walk of its own.
func allocated(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err == nil {
			bytes += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	})
	must.Do(t, err)
	return bytes
}

// In all captured homes, what sessions take and what belongs to none is together what the home takes: no byte is lost, none counts
// twice. Each stored session has its transcript.
func TestDiskUseIsThatOfTheHome(t *testing.T) {
	homes := map[discover.Agent]string{
		"claude-code": "../claudecode/testdata/fixtures/*", "codex": "../codex/testdata/[0-9]*", "opencode": "../opencode/testdata/json-1.1*",
		"pi": "../pi/testdata/[0-9]*", "copilot": "../copilot/testdata/[0-9]*",
	}
	compared := 0
	for _, a := range All() {
		dirs, err := filepath.Glob(homes[a.Name()])
		must.Do(t, err)
		for _, dir := range dirs {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				continue
			}
			home := []discover.Home{{Dir: dir}}
			entries, _ := a.Entries(t.Context(), home, discover.EntryFilter{Subagents: true})
			var records []discover.Record
			for r, err := range a.Read(t.Context(), entries, discover.ReadOptions{}) {
				if err == nil {
					records = append(records, r)
				}
			}
			var sum int64
			has := map[string]bool{}
			for u, err := range a.ReadDisk(t.Context(), home, records) {
				if err != nil {
					t.Errorf("%s: %v", dir, err)
					continue
				}
				if sum += u.Bytes; u.Owner >= 0 {
					has[records[u.Owner].ID] = true
				}
			}
			if want := allocated(t, dir); sum != want {
				t.Errorf("%s: %d bytes, a walk finds %d", dir, sum, want)
			}
			for _, r := range records {
				if compared++; !r.IsSubagent() && !has[r.ID] && r.Meta["legacy"] != true {
					t.Errorf("%s: %s has nothing", dir, r.ID)
				}
			}
		}
	}
	if compared < 50 {
		t.Errorf("%d sessions were compared", compared)
	}
}

// A home that the user names counts once, whatever name leads to it, and whether it lies in another agent's home or contains it.
func TestDiskUseOfNamedHomes(t *testing.T) {
	root := t.TempDir()
	for to, from := range map[string]string{
		".claude": "../claudecode/testdata/fixtures/01*", ".codex": "../codex/testdata/01*", ".local/share/opencode": "../opencode/testdata/json-1.1.65-family",
	} {
		found, _ := filepath.Glob(from)
		must.Do(t, os.CopyFS(filepath.Join(root, to), os.DirFS(found[0])))
	}
	must.Do(t, os.Symlink(".claude", filepath.Join(root, "linked")))
	count := func(homes ...string) (bytes int64) {
		scanner := &discover.Scanner{
			Adapters: All(), UID: os.Geteuid(), ReadTable: func(context.Context, bool) (*proc.Table, error) { return proctest.NewTable(), nil },
			HomeSources: func(discover.Agent) discover.HomeSources {
				return discover.HomeSources{Getenv: func(key string) string { return map[string]string{"HOME": root}[key] }, Configured: homes}
			},
		}
		_, warnings, err := scanner.ReadDisk(t.Context(), discover.DiskFilter{}, func(_ *discover.Record, _ bool, u discover.DiskUse) { bytes += u.Bytes })
		if err != nil || len(warnings) > 0 {
			t.Error(warnings, err)
		}
		return bytes
	}
	want := count()
	if all := allocated(t, filepath.Join(root, ".claude")) + allocated(t, filepath.Join(root, ".codex")) + allocated(t, filepath.Join(root, ".local/share/opencode")); want != all {
		t.Fatalf("%d bytes, a walk finds %d", want, all)
	}
	for _, home := range []string{".claude", "linked", ".codex", ".codex/sessions", ".claude/projects", ".local/share/opencode", ".local", ""} {
		if got := count(filepath.Join(root, home)); got != want {
			t.Errorf("--home %q: %d bytes, want %d", home, got, want)
		}
	}
}
