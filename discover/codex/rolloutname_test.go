package codex

import (
	"strings"
	"testing"
)

// Any file name gives no panic, and a date directory that contains its time.
func FuzzRolloutName(f *testing.F) {
	for _, name := range []string{nameA, nameB + ".zst", "rollout-2026-11-20T19-09-05-" + threadA + "_" + threadB + ".jsonl", "rollout-", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r, ok := parseRolloutName(name)
		if ok && (!isThreadID(r.id) || !strings.Contains(name, r.id)) {
			t.Fatalf("%q: %+v", name, r)
		}
		if at, ok := threadCreated(name); ok {
			if d, _ := daysOfID(name); !d.contains(at.Format("2006/01/02")) || !d.contains(at.Format("2006")) {
				t.Fatalf("%q: created %v, not in %v", name, at, d)
			}
		}
	})
}
