package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/tests/golden"
	"agentctl/tests/must"
)

// parse reads bytes as the rollout of a thread and returns the record as JSON.
func parse(t testing.TB, data []byte, id string) (string, error) {
	t.Helper()
	e := discover.Entry{Agent: "codex", ID: id, Path: "/x/sessions/2026/11/20/rollout.jsonl", Home: "/x"}
	var r storedThread
	r.reset(e)
	if err := r.readFile(storage.NewMemoryFile(e.Path, data, time.Time{}), tailLimit, e, readOptions{ReadOptions: discover.ReadOptions{Full: true}}); err != nil {
		return "", err
	}
	text, err := json.Marshal(r)
	must.Do(t, err)
	return string(text), nil
}

// Any bytes give no panic, no other thread's ID and bounded texts, and a torn last line changes nothing. One that lacks only its line
// break is a record.
func FuzzRollout(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*/sessions/*/*/*/*.jsonl")
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && len(data) < 5<<10 { // small ones mutate faster
			name, _ := parseRolloutName(filepath.Base(path))
			f.Add(bytes.ReplaceAll(data, []byte(name.id), []byte(someID)))
		}
	}
	f.Add([]byte("{\"timestamp\":\"\",\"type\":\"session_meta\",\"payload\":{}}\n"))
	f.Add([]byte{0, 255, '\n'})
	f.Add(rollout(metaLine, startedLine, contextLine, askedLine, callLine, outputLine, silentLine, settingsLine))
	f.Add(rollout(metaLine, reviewLine, answerLine, failedLine))
	f.Fuzz(func(t *testing.T, data []byte) {
		end := bytes.LastIndexByte(data, '\n') + 1
		got, err := parse(t, data, someID)
		torn := end > 0 && !storage.Object(data[end:]).Complete()
		if whole, wholeErr := parse(t, data[:end], someID); torn && (got != whole || (err == nil) != (wholeErr == nil)) {
			t.Fatalf("torn:  %s, %v\nwhole: %s, %v", got, err, whole, wholeErr)
		}
		if err != nil {
			return
		}
		var r discover.Record
		if json.Unmarshal([]byte(got), &r) != nil || len([]rune(r.Prompt)) > discover.PromptLimit {
			t.Fatalf("record %s", got)
		}
		if r.ID != someID && !bytes.Contains(data[:bytes.IndexByte(data, '\n')+1], []byte(`"session_meta"`)) {
			t.Fatalf("another thread's id %q", r.ID)
		}
	})
}

// A damaged ID is neither shown nor looked up.
func TestDamagedIDs(t *testing.T) {
	for _, id := range []string{"../../x", `\u001b[31m`, someID + "0", strings.ToUpper(someID)} {
		meta := strings.Replace(metaLine, `"id":"`+someID+`"`, `"id":"`+id+`","session_id":"`+id+`","forked_from_id":"`+id+`","parent_thread_id":"`+id+`"`, 1)
		text, err := parse(t, rollout(meta, startedLine, completeLine), someID)
		var r discover.Record
		if err != nil || json.Unmarshal([]byte(text), &r) != nil || r.ID != someID || r.Parent != "" || r.ForkedFrom != "" {
			t.Errorf("%s: %v, %s", id, err, text)
		}
	}
}

// Each field of a record comes from the record of the rollout that decides it.
func TestRecordFields(t *testing.T) {
	other := strings.ReplaceAll(metaLine, someID, "01a1fa6a-0000-7310-8297-cbac269b6576")
	for name, test := range map[string]struct {
		lines []string
		check func(r discover.Record) bool
	}{
		"review hint":         {[]string{metaLine, reviewLine}, func(r discover.Record) bool { return r.Prompt == "the diff" }},
		"first prompt":        {[]string{metaLine, reviewLine, askedLine, strings.Replace(askedLine, "do it", "more", 1)}, func(r discover.Record) bool { return r.Prompt == "do it" }},
		"settings if no turn": {[]string{metaLine, settingsLine}, func(r discover.Record) bool { return r.Model == "n" && r.Dir == "/v" && r.Meta["startDir"] == "/w" }},
		"turn over settings":  {[]string{metaLine, contextLine, settingsLine}, func(r discover.Record) bool { return r.Model == "m" && r.Dir == "/w" }},
		"newest time":         {[]string{metaLine, settingsLine, askedLine}, func(r discover.Record) bool { return r.Updated.Second() == 8 }},
		"parent's meta after": {[]string{metaLine, other}, func(r discover.Record) bool { return r.ID == someID }},
		"own meta is torn":    {[]string{metaLine[:50], other, askedLine, metaLine}, func(r discover.Record) bool { return r.ID == someID && r.Dir == "/w" }},
		"long prompt":         {[]string{metaLine, strings.Replace(askedLine, "do it", strings.Repeat("ä", 5000), 1)}, func(r discover.Record) bool { return r.Prompt == strings.Repeat("ä", 200) }},
	} {
		text, err := parse(t, rollout(test.lines...), someID)
		var r discover.Record
		if err != nil || json.Unmarshal([]byte(text), &r) != nil || !test.check(r) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	if got, err := parse(t, rollout(other[:50], other[50:], askedLine), someID); err == nil {
		t.Errorf("no session_meta: %s", got)
	}
}

func memory(data []byte) *storage.File { return storage.NewMemoryFile("/x", data, time.Time{}) }

// readHome reads all records of a home, sorted by ID. Every warning fails the test.
func readHome(t testing.TB, dir string, want discover.ReadOptions) []discover.Record {
	t.Helper()
	records, warnings := readEntries(t, dir, discover.EntryFilter{}, want)
	for _, err := range warnings {
		t.Error(err)
	}
	return records
}

// readEntries reads the selected records of a home, sorted by ID, and the distinct warnings.
func readEntries(t testing.TB, dir string, q discover.EntryFilter, want discover.ReadOptions) (records []discover.Record, warnings []error) {
	t.Helper()
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, q)
	warnings = splitWarnings(t, err)
	for r, err := range New().Read(t.Context(), entries, want) {
		if err != nil {
			warnings = append(warnings, splitWarnings(t, err)...)
			continue
		}
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b discover.Record) int { return strings.Compare(a.ID+a.Path, b.ID+b.Path) })
	slices.SortFunc(warnings, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	warnings = slices.CompactFunc(warnings, func(a, b error) bool { return a.Error() == b.Error() })
	return records, warnings
}

// rolloutPaths lists all rollouts of a thread.
func rolloutPaths(t testing.TB, home, id string, last time.Time) (paths []string) {
	t.Helper()
	all, err := allRollouts(t.Context(), home, id, last)
	must.Do(t, err)
	for _, e := range all {
		paths = append(paths, e.Path)
	}
	return paths
}

// splitWarnings splits joined errors. Each must be a warning that names a path.
func splitWarnings(t testing.TB, err error) []error {
	t.Helper()
	if err == nil {
		return nil
	}
	errs := []error{err}
	if joined := interface{ Unwrap() []error }(nil); errors.As(err, &joined) {
		errs = joined.Unwrap()
	}
	for _, err := range errs {
		if w := (*discover.Warning)(nil); !errors.As(err, &w) || w.Path == "" || w.Agent != "codex" {
			t.Errorf("not a warning that names a path: %v", err)
		}
	}
	return errs
}

// The captured storage of many versions and situations reads as recorded. testdata/*/README describes each.
func TestGolden(t *testing.T) {
	dirs, err := filepath.Glob("testdata/[0-9]*")
	if err != nil || len(dirs) < 20 {
		t.Fatalf("%d folders of fixtures: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			records := readHome(t, dir, discover.ReadOptions{Full: true})
			for i := range records {
				if info, err := os.Stat(records[i].Path); err == nil && records[i].Updated.Equal(info.ModTime()) {
					records[i].Updated = records[i].Created // the file's own time is that of the check-out
				}
			}
			golden.Compare(t, filepath.Join("testdata", "golden", filepath.Base(dir)+".json"), golden.JSON(t, records))
		})
	}
}

// A list reads less than a status, but the same values. Only the tokens may be missing.
func TestListAgreesWithStatus(t *testing.T) {
	dirs, _ := filepath.Glob("testdata/[0-9]*")
	for _, dir := range dirs {
		list, status := readHome(t, dir, discover.ReadOptions{}), readHome(t, dir, discover.ReadOptions{Full: true})
		if len(list) != len(status) {
			t.Errorf("%s: %d and %d records", dir, len(list), len(status))
			continue
		}
		for i := range list {
			status[i].Quotas = nil
			if slices.ContainsFunc(list, func(r discover.Record) bool { return r.Parent == list[i].ID }) {
				list[i].Tokens = nil // its own alone
			}
			if list[i].Tokens == nil {
				status[i].Tokens = nil
				delete(status[i].Meta, "contextWindow")
				delete(list[i].Meta, "contextWindow")
			}
			a, _ := json.Marshal(list[i])
			b, _ := json.Marshal(status[i])
			if string(a) != string(b) {
				t.Errorf("list\n%s\nstatus\n%s", a, b)
			}
		}
	}
}

// Names are in the file of names or, where that has none, in the rollout: at its end, or before its first prompt. Blank ones are none.
func TestNamesInRollouts(t *testing.T) {
	named := func(name string) string {
		return `{"timestamp":"2026-11-20T19:00:04Z","type":"event_msg","payload":{"type":"thread_name_updated","thread_id":"` + threadA + `","thread_name":"` + name + `"}}`
	}
	other := strings.ReplaceAll(named("another's"), threadA, threadB)
	turn := []string{startedLine, contextLine, askedLine, answerLine, completeLine}
	long := slices.Repeat(turn, 2*nameRange/len(rollout(turn...)))
	index := func(name string) string { return `{"id":"` + threadA + `","thread_name":"` + name + `"}` + "\n" }
	for name, test := range map[string]struct {
		index string
		lines []string
		want  string
	}{
		"two turns ago":      {"", slices.Concat(turn, []string{named(" one "), other, named("  ")}, turn, turn), "one"},
		"before a long talk": {"", slices.Concat([]string{named("one")}, long), "one"},
		"twice":              {"", slices.Concat([]string{named("one")}, turn, []string{named("two")}, turn), "two"},
		"blank in the file":  {index("  "), slices.Concat(turn, []string{named("one")}), "one"},
		"in the file":        {index(" new ") + index(""), slices.Concat(turn, []string{named("one")}), "new"},
		"none":               {index(""), slices.Concat(turn, []string{other}), ""},
	} {
		w := newTestHome(t)
		w.file("sessions/2026/11/20/"+nameA, string(rollout(append([]string{strings.ReplaceAll(metaLine, someID, threadA)}, test.lines...)...)))
		w.file(titlesFile, test.index)
		for _, options := range []discover.ReadOptions{{}, {Full: true, Tokens: true}} {
			if r := readHome(t, w.home, options); len(r) != 1 || r[0].Title != test.want {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// A thread has the newest name that the user gave it. A torn last line is ignored.
func TestTitles(t *testing.T) {
	w := newTestHome(t)
	w.rollout(nameA)
	w.file("sessions/2026/11/20/"+nameA, string(rollout(append([]string{strings.ReplaceAll(metaLine, someID, threadA)}, turnLines(1, "a", 1, 1)...)...)))
	w.file(titlesFile, `{"id":"`+threadA+`","thread_name":"old"}`+"\n"+`{"id":"`+threadB+`","thread_name":"other"}`+"\n"+
		`{"id":"`+threadA+`","thread_name":"new \"name\""}`+"\n"+`{"id":"`+threadA+`","thread_name":"torn`)
	if r := readHome(t, w.home, discover.ReadOptions{}); len(r) != 1 || r[0].Title != `new "name"` {
		t.Errorf("records %+v", r)
	}
	for u, err := range New().ReadUsage(t.Context(), entriesOf(t, w.home)) {
		if err != nil || u.Title != `new "name"` {
			t.Errorf("usage: %v, %+v", err, u)
		}
	}
}

const someID = "01a1fa6a-5869-7310-8297-cbac269b6576"

func rollout(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

const (
	metaLine     = `{"timestamp":"2026-11-20T19:00:00Z","type":"session_meta","payload":{"id":"` + someID + `","cwd":"/w","cli_version":"0.104.0"}}`
	contextLine  = `{"timestamp":"2026-11-20T19:00:01Z","type":"turn_context","payload":{"cwd":"/w","model":"m"}}`
	startedLine  = `{"timestamp":"2026-11-20T19:00:02Z","type":"event_msg","payload":{"type":"task_started"}}`
	askedLine    = `{"timestamp":"2026-11-20T19:00:03Z","type":"event_msg","payload":{"type":"user_message","message":"do it"}}`
	answerLine   = `{"timestamp":"2026-11-20T19:00:04Z","type":"event_msg","payload":{"type":"agent_message","message":"done"}}`
	saidLine     = `{"timestamp":"2026-11-20T19:00:04Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[]}}`
	callLine     = `{"timestamp":"2026-11-20T19:00:05Z","type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c1"}}`
	outputLine   = `{"timestamp":"2026-11-20T19:00:06Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1"}}`
	silentLine   = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":null}}`
	completeLine = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":"done"}}`
	timedLine    = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":null,"completed_at":1}}`
	newerLine    = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":null,"started_at":1,"completed_at":1}}`
	failedLine   = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","error":{"message":"no key"}}}`
	abortedLine  = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`
	errorLine    = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"error","message":"gone"}}`
	settingsLine = `{"timestamp":"2026-11-20T19:00:08Z","type":"event_msg","payload":{"type":"thread_settings_applied","thread_settings":{"model":"n","cwd":"/v"}}}`
	reviewLine   = `{"timestamp":"2026-11-20T19:00:02Z","type":"event_msg","payload":{"type":"entered_review_mode","user_facing_hint":"the diff"}}`
	compactLine  = `{"timestamp":"2026-11-20T19:00:06Z","type":"compacted","payload":{"message":""}}`
)

// stamp sets the seconds of a line's timestamp.
func stamp(line, second string) string {
	const prefix = `{"timestamp":"2026-11-20T19:00:`
	return prefix + second + line[len(prefix)+len("00"):]
}
