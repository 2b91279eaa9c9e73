package opencode

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"agentctl/discover"
)

const (
	oldSession = "ses_e05979612ffe415jjjmvTetWgF"
	oldProject = "d2304ff913de73db02e9ba504b82bcd82ab7e080"
	oldMessage = "msg_1fa687310001ATVgJybZXFFlxU" // its last
)

// A file that is cut at any byte costs one warning that names it, and never gives the facts of another session.
func TestLegacyTornFiles(t *testing.T) {
	dir := capture(t, "json-1.1.65-run-finished")
	for file, survives := range map[string]bool{
		filepath.Join(dir, "storage", "session", oldProject, oldSession+".json"): false,
		filepath.Join(dir, "storage", "message", oldSession, oldMessage+".json"): true,
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for cut := range bytes.TrimRight(raw, "\n") {
			writeFile(t, file, raw[:cut])
			records, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: oldSession}, discover.ReadOptions{})
			oneWarning(t, err, file)
			if survives != (len(records) == 1) {
				t.Fatalf("%s cut at %d: %v", file, cut, records)
			}
			if survives && (records[0].ID != oldSession || records[0].Title != "JT" || records[0].Turn.State != discover.TurnUnknown) {
				t.Fatalf("%s cut at %d: %+v", file, cut, records[0])
			}
		}
		writeFile(t, file, raw)
	}
}

func TestLegacyUnreadableFiles(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string) error
		warns  bool
	}{
		"another session's": {func(t *testing.T, path string) error {
			writeFile(t, path, []byte(`{"id":"ses_other","title":"not this one"}`))
			return nil
		}, true},
		"binary": {func(t *testing.T, path string) error {
			writeFile(t, path, bytes.Repeat([]byte{0, 0xff}, 500))
			return nil
		}, true},
		"deep": {func(t *testing.T, path string) error {
			writeFile(t, path, bytes.Repeat([]byte(`{"a":`), 50000))
			return nil
		}, true},
		"empty": {func(t *testing.T, path string) error { writeFile(t, path, nil); return nil }, true},
		"huge":  {func(_ *testing.T, path string) error { return os.Truncate(path, maxLegacyFile+1) }, true},
		"a FIFO": {func(_ *testing.T, path string) error {
			return refill(path, func() error { return syscall.Mkfifo(path, 0o600) })
		}, true},
		"a link": {func(_ *testing.T, path string) error {
			return refill(path, func() error { return os.Symlink("/dev/zero", path) })
		}, true},
		"missing": {func(_ *testing.T, path string) error { return os.Remove(path) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := capture(t, "json-1.1.65-run-finished")
			path := filepath.Join(dir, "storage", "session", oldProject, oldSession+".json")
			if err := c.damage(t, path); err != nil {
				t.Fatal(err)
			}
			records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, discover.ReadOptions{})
			if len(records) != 2 {
				t.Errorf("%d records, want the other two", len(records))
			}
			if c.warns {
				oneWarning(t, err, path)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func refill(path string, fill func() error) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return fill()
}

func FuzzLegacySession(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("testdata/json-1.1.65-run-finished/storage/session", oldProject, oldSession+".json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := mkdir(t, filepath.Join(t.TempDir(), "storage", "session", "global"))
		writeFile(t, filepath.Join(dir, oldSession+".json"), data)
		records, _ := readRecords(t, homeOf(filepath.Dir(filepath.Dir(filepath.Dir(dir)))), discover.EntryFilter{Subagents: true}, whole)
		for _, r := range records {
			if r.ID != oldSession {
				t.Errorf("%q: session %s", data, r.ID)
			}
		}
	})
}
