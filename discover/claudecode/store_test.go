package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/tests/must"
)

const minimal = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":"u","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"

func ids(records []discover.Record) (out []string) {
	for _, r := range records {
		out = append(out, r.ID)
	}
	slices.Sort(out)
	return out
}

func entryIDs(t *testing.T, dir string, q discover.EntryFilter) (out []string) {
	t.Helper()
	entries, err := New().Entries(context.Background(), []discover.Home{{Dir: dir}}, q)
	must.Do(t, err)
	for _, e := range entries {
		out = append(out, e.ID)
	}
	slices.Sort(out)
	return out
}

func TestEntriesByQuery(t *testing.T) {
	dir := home(t, "08-fork-name-same-id-two-projects-2.1.197")
	one, two := "11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555"
	there := filepath.Join(projectsDir(dir), "-srv-claude-lab-w-pr", one+transcriptSuffix)
	old := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name string
		q    discover.EntryFilter
		want int
	}{
		{"all", discover.EntryFilter{}, 5},
		{"one id in two projects", discover.EntryFilter{ID: one}, 2},
		{"prefix", discover.EntryFilter{ID: "2222"}, 1},
		{"unknown", discover.EntryFilter{ID: alive}, 0},
		{"reference with a path", discover.EntryFilter{Refs: []discover.Ref{{ID: one, Path: there}}}, 1},
		{"reference without", discover.EntryFilter{Refs: []discover.Ref{{ID: one}, {ID: two}}}, 3},
		{"both sorts", discover.EntryFilter{Refs: []discover.Ref{{ID: one, Path: there}, {ID: two}}}, 2},
		{"a path outside", discover.EntryFilter{Refs: []discover.Ref{{ID: one, Path: "/etc/" + one + transcriptSuffix}}}, 0},
		{"a path that leads outside", discover.EntryFilter{Refs: []discover.Ref{{ID: one, Path: projectsDir(dir) + "/../../" + one + transcriptSuffix}}}, 0},
		{"not since", discover.EntryFilter{Since: old}, 0},
	} {
		if got := entryIDs(t, dir, c.q); len(got) != c.want {
			t.Errorf("%s: %d entries %v, want %d", c.name, len(got), got, c.want)
		}
	}
}

func TestSubagentsOfASession(t *testing.T) {
	for fixture, c := range map[string]struct {
		parent string
		want   int
	}{
		"03-tui-live-clear-resume-compact-subagent-2.1.197": {"e226c6c2-b29e-44bd-a15c-c206f3c183bb", 1},
		"14-print-2.0.77-agent-files-beside":                {"cf5607e6-a3a9-497b-b79c-44da71a759e0", 3},
	} {
		dir := home(t, fixture)
		all, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, discover.EntryFilter{})
		must.Do(t, err)
		for _, e := range all {
			want := 0
			if e.ID == c.parent {
				want = c.want
			}
			found, _ := records(t, dir, discover.EntryFilter{Parents: []discover.Ref{{ID: e.ID, Path: e.Path}}, Subagents: true}, discover.ReadOptions{})
			for _, r := range found {
				if !isSubagent(r.ID) || r.Parent != e.ID {
					t.Errorf("%s: %s is no sub-agent of %s", fixture, r.ID, e.ID)
				}
				own := discover.EntryFilter{Parents: []discover.Ref{{ID: r.ID, Path: r.Path}}, Subagents: true}
				if got := entryIDs(t, dir, own); got != nil {
					t.Errorf("%s: %s has sub-agents: %v", fixture, r.ID, got)
				}
			}
			if len(found) != want {
				t.Errorf("%s: sub-agents of %s are %v, want %d", fixture, e.ID, ids(found), want)
			}
		}
		elsewhere := discover.EntryFilter{Parents: []discover.Ref{{ID: c.parent, Path: "/w/" + c.parent + transcriptSuffix}}, Subagents: true}
		if got := entryIDs(t, dir, elsewhere); got != nil {
			t.Errorf("%s: of a session elsewhere: %v", fixture, got)
		}
	}
}

// Files that are no session's transcript: sub-agents' files under a session's name, empty files that a resume left behind,
// renamed files.
func TestFilesThatAreNoSessions(t *testing.T) {
	dir := t.TempDir()
	project := filepath.Dir(transcriptPath(dir, "/w", alive))
	must.Do(t, os.MkdirAll(filepath.Join(project, "memory"), 0o700))
	for name, content := range map[string]string{
		numbered(1) + transcriptSuffix:                            "",
		numbered(2) + transcriptSuffix:                            `{"type":"summary","summary":"x","leafUuid":"y"}` + "\n",
		numbered(3) + transcriptSuffix:                            strings.ReplaceAll(minimal, `"isSidechain":false`, `"isSidechain":true`),
		numbered(4) + ".orphaned-1-deadbeef" + transcriptSuffix:   minimal,
		"notes" + transcriptSuffix:                                minimal,
		numbered(5) + ".json":                                     minimal,
		numbered(6) + transcriptSuffix:                            strings.TrimSuffix(minimal, "}\n"),
		"agent-0123abc" + transcriptSuffix:                        minimal,
		strings.ToUpper("agent-0123abc") + transcriptSuffix + "~": minimal,
	} {
		must.Do(t, os.WriteFile(filepath.Join(project, name), []byte(content), 0o600))
	}
	if got, warned := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{}); len(got) > 0 || len(warned) > 0 {
		t.Errorf("sessions %v, warnings %v", ids(got), warned)
	}
}

// S6: each file or folder that cannot be read costs one warning, and nothing else.
func TestUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	path := writeTranscript(t, dir, minimal)
	project := filepath.Dir(path)
	name := func(i int) string { return filepath.Join(project, numbered(i)+transcriptSuffix) }
	must.Do(t, syscall.Mkfifo(name(1), 0o600))
	must.Do(t, os.Symlink(path, name(2)))
	must.Do(t, os.Mkdir(name(3), 0o700))
	must.Do(t, os.Symlink("/dev/zero", name(4)))
	must.Do(t, os.Symlink("nowhere", name(5)))
	must.Do(t, os.WriteFile(filepath.Join(projectsDir(dir), "README"), nil, 0o600))
	folder := func(i int) string { return filepath.Join(projectsDir(dir), fmt.Sprint("-", i)) }
	must.Do(t, os.WriteFile(folder(1), nil, 0o600))
	must.Do(t, os.Symlink("nowhere", folder(2)))
	must.Do(t, os.Symlink(folder(3), folder(3)))
	must.Do(t, syscall.Mkfifo(folder(4), 0o600))
	must.Do(t, os.Symlink("README", folder(5)))
	got, warned := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{Full: true})
	if len(got) != 1 || got[0].ID != alive {
		t.Errorf("sessions %v", ids(got))
	}
	var paths []string
	for _, w := range warned {
		paths = append(paths, w.Path)
	}
	slices.Sort(paths)
	if !slices.Equal(paths, []string{
		folder(1), folder(2), folder(3), folder(4), folder(5), name(1), name(2), name(3), name(4), name(5),
	}) {
		t.Errorf("warnings %v", warned)
	}
	if _, err := New().Entries(context.Background(), []discover.Home{{Dir: dir}}, discover.EntryFilter{ID: numbered(1)}); len(warningsIn(t, err)) != 6 {
		t.Errorf("asked by name: %v", err)
	}
}

// A file without a readable message costs a warning.
func TestDamagedTranscripts(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		warns   bool
	}{
		"empty": {"", false}, "its first record is being written": {minimal[:50], false}, "blank": {"\n\n" + minimal, false},
		"binary": {"\x7fELF\x00\xff", true}, "binary with lines": {"\x00\n\xff\n", true},
		"another program's": {"{}\n{\"a\":1}\n", true}, "deep": {strings.Repeat(`{"a":`, 50_000) + "\n", true},
		"damaged prompt": {`{"type":"summary","summary":"x"}` + "\n" + strings.TrimSuffix(minimal, "}\n") + "\n", true},
		"endless line":   {`{"type":"user",` + strings.Repeat(" ", turnReach), true},
	} {
		dir := t.TempDir()
		path := writeTranscript(t, dir, c.content)
		_, warned := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{})
		if len(warned) > 0 != c.warns || c.warns && (len(warned) != 1 || warned[0].Path != path) {
			t.Errorf("%s: warnings %v", name, warned)
		}
	}
}

// A transcript may be replaced by something else between the listing and the reading.
func TestFileReplacedAfterListing(t *testing.T) {
	dir := t.TempDir()
	path := writeTranscript(t, dir, minimal)
	entries, err := New().Entries(context.Background(), []discover.Home{{Dir: dir}}, discover.EntryFilter{})
	must.Do(t, err)
	must.Do(t, os.Remove(path))
	for r, err := range New().Read(context.Background(), entries, discover.ReadOptions{}) {
		t.Errorf("vanished: %v, %v", r, err)
	}
	must.Do(t, syscall.Mkfifo(path, 0o600))
	n := 0
	for _, err := range New().Read(context.Background(), entries, discover.ReadOptions{}) {
		n++
		if w := warningsIn(t, err); len(w) != 1 || w[0].Path != path {
			t.Errorf("FIFO: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d results of a FIFO", n)
	}
}

// The first directory may follow a prompt of hundreds of kilobytes, and so may the last message precede one.
func TestLongLines(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 700_000)
	attachment := `{"parentUuid":"u","isSidechain":false,"attachment":{"type":"prompt_snapshot","text":"` + long + `"},"type":"attachment","timestamp":"2026-01-01T00:00:09.000Z","cwd":"/w"}` + "\n"
	content := `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:00.000Z","content":"` + long + `"}` + "\n" +
		strings.Replace(minimal, "hi", long, 1) + strings.Join(transcriptLines{}.says(`"end_turn"`), "") + "\n" + strings.Repeat(attachment, 3)
	r, ok := readBytes(t, dir, []byte(content))
	if !ok || r.Dir != "/w" || len(r.Prompt) != discover.PromptLimit || r.Turn.State != discover.TurnDone || r.Model != "m" {
		t.Errorf("%v %+v", ok, r)
	}
	if want := time.Date(2026, 1, 1, 0, 0, 9, 0, time.UTC); !r.Updated.Equal(want) {
		t.Errorf("updated %s", r.Updated)
	}
}

func TestUnexpectedContent(t *testing.T) {
	dir := t.TempDir()
	for name, line := range map[string]string{
		"binary": "\x00\xff\xfe\x1b[31m", "deep": strings.Repeat(`{"a":`, 50_000), "not UTF-8": "{\"type\":\"user\",\"x\":\"\xc3\x28\"}",
		"wrong types": `{"type":["user"],"message":7,"timestamp":{},"cwd":[1],"isSidechain":"no"}`,
		"over long":   strings.Repeat("y", storage.MaxLine+10),
	} {
		for _, content := range []string{minimal + line + "\n", line + "\n" + minimal} {
			r, ok := readBytes(t, dir, []byte(content))
			if ok && (r.ID != alive || r.Prompt != "hi" && r.Prompt != "") {
				t.Errorf("%s: %+v", name, r)
			}
			if !ok && name != "over long" {
				t.Errorf("%s: the session is lost", name)
			}
		}
	}
}
