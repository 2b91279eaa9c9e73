package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/tests/must"
)

func (w *testHome) entries(q discover.EntryFilter) []string {
	w.t.Helper()
	entries, err := New().Entries(w.t.Context(), []discover.Home{{Dir: w.home}}, q)
	if err != nil {
		w.t.Error(err)
	}
	var out []string
	for _, e := range entries {
		if e.Home != w.home || e.Agent != "codex" || e.Updated.IsZero() {
			w.t.Errorf("entry %+v", e)
		}
		out = append(out, strings.TrimPrefix(e.Path, w.home+"/"))
	}
	slices.Sort(out)
	return out
}

func (w *testHome) expectEntries(q discover.EntryFilter, want ...string) {
	w.t.Helper()
	if got := w.entries(q); !slices.Equal(got, want) {
		w.t.Errorf("%+v: got %q, want %q", q, got, want)
	}
}

// A full ID, or the beginning of one, finds its thread wherever its rollout is.
func TestEntriesByID(t *testing.T) {
	w := newTestHome(t)
	const old = "3f2a5c5c-c285-4d91-bd0a-842a7d8b5424" // as the first versions made them: no time in it
	a, b := "sessions/2026/11/20/"+nameA, "sessions/2026/11/20/"+nameB
	moved := "sessions/2024/01/01/rollout-2026-11-20T19-12-38-01a1fa60-035e-7f13-870e-9f68aa312f76.jsonl"
	v4 := "sessions/2025/05/05/rollout-2025-05-05T00-00-00-" + old + ".jsonl"
	for _, name := range []string{a, b, moved, v4, "sessions/2026/11/20/notes.jsonl", "sessions/x/y", "sessions/2026/11/.DS_Store"} {
		w.file(name, "")
	}
	w.expectEntries(discover.EntryFilter{}, moved, v4, a, b)
	w.expectEntries(discover.EntryFilter{ID: threadA}, a)
	w.expectEntries(discover.EntryFilter{ID: threadA[:13]}, a)
	w.expectEntries(discover.EntryFilter{ID: "01a1fa"}, moved, a, b)
	w.expectEntries(discover.EntryFilter{ID: old}, v4)
	w.expectEntries(discover.EntryFilter{ID: "01a1fa60-035e-7f13-870e-9f68aa312f76"}, moved)
	w.expectEntries(discover.EntryFilter{ID: "ffffffff-ffff-7fff-8fff-ffffffffffff"})
	w.expectEntries(discover.EntryFilter{Refs: []discover.Ref{}})
	w.expectEntries(discover.EntryFilter{Refs: []discover.Ref{{ID: threadB}, {ID: threadA, Path: filepath.Join(w.home, a)}, {ID: old}}}, v4, a, b)
	w.expectEntries(discover.EntryFilter{Refs: []discover.Ref{{ID: threadA, Path: "/other/home/" + a}}})
	w.expectEntries(discover.EntryFilter{Refs: []discover.Ref{{ID: threadA, Path: filepath.Join(w.home, archiveDir, nameA)}}}, a)
}

// A sub-agent's thread is listed if it began while its parent thread was active, or soon after.
func TestEntriesByParent(t *testing.T) {
	w := newTestHome(t)
	parent := w.file("sessions/2026/11/20/"+nameA, "")
	born, _ := threadCreated(threadA)
	at := func(d time.Duration, dir string) string {
		t := born.Add(d)
		id := fmt.Sprintf("%012x", t.UnixMilli())
		return dir + t.Format("/2006/01/02/rollout-2006-01-02T15-04-05-") + id[:8] + "-" + id[8:] + "-7000-8000-000000000000" + plainExt
	}
	near, late := at(time.Minute, "sessions"), at(26*time.Hour, "sessions")
	for _, name := range []string{near, late, at(-time.Minute, "sessions"), at(30*time.Hour, "sessions"), at(99*time.Hour, "sessions")} {
		w.file(name, "")
	}
	must.Do(t, os.Chtimes(parent, born, born.Add(3*time.Hour)))
	w.expectEntries(discover.EntryFilter{Parents: []discover.Ref{{ID: threadA, Path: parent}}, Subagents: true}, near, late)
	w.expectEntries(discover.EntryFilter{Parents: []discover.Ref{{ID: threadA, Path: "/other/" + nameA}}, Subagents: true})
	w.expectEntries(discover.EntryFilter{Parents: []discover.Ref{}, Subagents: true})
}

// A thread that is resumed stays in the directory of the day it began: the modification time of its file counts.
func TestEntriesSince(t *testing.T) {
	w := newTestHome(t)
	fresh := w.file("sessions/2020/01/01/"+nameA, "x")
	stale := w.file("sessions/2026/11/20/"+nameB, "x")
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for path, at := range map[string]time.Time{fresh: day, stale: day.Add(-time.Hour)} {
		must.Do(t, os.Chtimes(path, at, at))
	}
	w.expectEntries(discover.EntryFilter{Since: day}, "sessions/2020/01/01/"+nameA)
}

// A rollout is found wherever it is in the folders of sessions, by a list and by its ID. The directories of a rollout that is looked up by
// its path are not searched.
func TestRolloutsOutsideTheDateDirectories(t *testing.T) {
	for _, folder := range []string{"sessions/", "sessions/2026/", "sessions/2026/11/20/again/", "sessions/imported/2025/", "archived_sessions/2026/11/"} {
		w := newTestHome(t)
		path := folder + nameA
		w.file(path, string(rollout(strings.ReplaceAll(metaLine, someID, threadA))))
		w.expectEntries(discover.EntryFilter{}, path)
		w.expectEntries(discover.EntryFilter{ID: threadA}, path)
		w.expectEntries(discover.EntryFilter{Refs: []discover.Ref{{ID: threadA, Path: filepath.Join(w.home, path)}}}, path)
		counted := false
		for use, err := range New().ReadDisk(t.Context(), []discover.Home{{Dir: w.home}}, readHome(t, w.home, discover.ReadOptions{})) {
			counted = counted || err == nil && use.Owner == 0 && use.Files == 1
		}
		if !counted {
			t.Errorf("%s is not counted as the session's", path)
		}
	}
}

// A thread with several files has one entry, the preferred one.
func TestOneEntryPerThread(t *testing.T) {
	packed := strings.Replace(nameA, plainExt, compressedExt, 1)
	window := strings.Replace(nameA, plainExt, "_"+threadB+plainExt, 1)
	for name, test := range map[string]struct{ files, want []string }{
		"plain over packed":      {[]string{"sessions/2026/11/20/" + packed, "sessions/2026/11/20/" + nameA}, []string{"sessions/2026/11/20/" + nameA}},
		"packed alone":           {[]string{"sessions/2026/11/20/" + packed}, []string{"sessions/2026/11/20/" + packed}},
		"sessions over archived": {[]string{"archived_sessions/" + nameA, "sessions/2026/11/20/" + packed}, []string{"sessions/2026/11/20/" + packed}},
		"archived alone":         {[]string{"archived_sessions/" + nameA}, []string{"archived_sessions/" + nameA}},
		"newest window":          {[]string{"sessions/2026/11/20/" + nameA, "sessions/2026/11/21/" + window}, []string{"sessions/2026/11/21/" + window}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestHome(t)
			for i, f := range test.files {
				at := time.Unix(1_700_000_000-int64(i), 0) // times do not matter
				must.Do(t, os.Chtimes(w.file(f, ""), at, at))
			}
			w.expectEntries(discover.EntryFilter{}, test.want...)
			w.expectEntries(discover.EntryFilter{ID: threadA}, test.want...)
			for _, r := range readHome(t, w.home, discover.ReadOptions{}) {
				if r.Archived != strings.HasPrefix(test.want[0], "archived") || r.ID != threadA {
					t.Errorf("record %+v", r)
				}
			}
		})
	}
}

// Each file or directory that cannot be read gives one warning and changes nothing else.
func TestUnreadableThings(t *testing.T) {
	good := "sessions/2026/11/20/" + nameA
	for name, test := range map[string]struct {
		make     func(w *testHome) string // returns the path that the warning names
		records  int
		warnings int
	}{
		"fifo": {func(w *testHome) string {
			path := filepath.Join(w.home, "sessions/2026/11/20/"+nameB)
			must.Do(w.t, syscall.Mkfifo(path, 0o600))
			return path
		}, 1, 1},
		"link": {func(w *testHome) string {
			path := filepath.Join(w.home, "sessions/2026/11/20/"+nameB)
			must.Do(w.t, os.Symlink(nameA, path))
			return path
		}, 1, 1},
		"folder for a file": {func(w *testHome) string { return filepath.Dir(w.file("sessions/2026/11/20/"+nameB+"/x", "")) }, 1, 1},
		"file for a folder": {func(w *testHome) string { return w.file("sessions/2026/12", "") }, 1, 1},
		"file for archive":  {func(w *testHome) string { return w.file(archiveDir, "") }, 1, 1},
		"no rollout":        {func(w *testHome) string { return w.file("sessions/2026/11/20/"+nameB, "{}\n") }, 1, 1},
		"binary":            {func(w *testHome) string { return w.file("sessions/2026/11/20/"+nameB, "\x7fELF\x00\x01\xff") }, 1, 1},
		"binary with lines": {func(w *testHome) string { return w.file("sessions/2026/11/20/"+nameB, "\x00\n\xff\n") }, 1, 1},
		"packed nonsense": {func(w *testHome) string {
			return w.file("sessions/2026/11/20/"+strings.Replace(nameB, plainExt, compressedExt, 1), "abcdefgh")
		}, 1, 1},
		"folder for names":   {func(w *testHome) string { return filepath.Dir(w.file(titlesFile+"/x", "")) }, 1, 1},
		"nonsense for names": {func(w *testHome) string { return w.file(titlesFile, "\x00{\n{}\nnull\n") }, 1, 0},
		"torn first record":  {func(w *testHome) string { return w.file("sessions/2026/11/20/"+nameB, metaLine[:40]) }, 2, 0},
		"empty":              {func(w *testHome) string { return w.file("sessions/2026/11/20/"+nameB, "") }, 2, 0},
		"deep nesting": {func(w *testHome) string {
			return w.file("sessions/2026/11/20/"+nameB, strings.Repeat(`{"a":`, 1<<18)+"\n"+string(rollout(strings.ReplaceAll(metaLine, someID, threadB))))
		}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestHome(t)
			w.file(good, string(rollout(strings.ReplaceAll(metaLine, someID, threadA))))
			path := test.make(w)
			records, warnings := readEntries(t, w.home, discover.EntryFilter{}, discover.ReadOptions{Full: true})
			if len(records) != test.records || records[0].ID != threadA || len(warnings) != test.warnings {
				t.Errorf("%d records, warnings %v", len(records), warnings)
			}
			for _, err := range warnings {
				if !strings.Contains(err.Error(), path) {
					t.Errorf("%v does not name %s", err, path)
				}
			}
		})
	}
}

// A thread whose prompt was edited some days later is found by its ID, with its newest rollout.
func TestPromptEditedLater(t *testing.T) {
	w := newTestHome(t)
	first := w.rollout(nameA)
	when := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	must.Do(t, os.Chtimes(first, when, when))
	later := w.file("sessions/2026/12/09/"+strings.Replace(nameA, ".jsonl", "_"+threadB+".jsonl", 1), string(rollout(metaLine)))
	for _, q := range []discover.EntryFilter{{}, {ID: threadA}, {ID: threadA[:20]}, {Refs: []discover.Ref{{ID: threadA}}}} {
		got, err := New().Entries(t.Context(), []discover.Home{{Dir: w.home}}, q)
		if err != nil || len(got) != 1 || got[0].Path != later {
			t.Errorf("%+v: %+v, %v", q, got, err)
		}
	}
}

// A thread is watched at its rollout, and where its process may begin another thread.
func TestWatchPaths(t *testing.T) {
	today := filepath.Join("/h", sessionsDir, time.Now().Format(dayLayout))
	for _, tc := range []struct {
		r    discover.Record
		want []string
	}{
		{discover.Record{Home: "/h", ID: "01a1fa5c-c285-7d91-bd0a-842a7d8b5424", Path: "/h/r.jsonl"}, []string{"/h/r.jsonl"}},
		{discover.Record{Home: "/h", ID: "01a1fa5c-c285-7d91-bd0a-842a7d8b5424"}, []string{"/h/sessions/2026/11/19", "/h/sessions/2026/11/20", "/h/sessions/2026/11/21"}},
		{discover.Record{Home: "/h"}, nil},
	} {
		got := Adapter{}.WatchPaths(t.Context(), discover.Session{Record: &tc.r})
		for _, want := range append(tc.want, filepath.Join("/h", locksDir), today) {
			if !slices.Contains(got, want) {
				t.Errorf("%+v: %s is not among %q", tc.r, want, got)
			}
		}
	}
}
