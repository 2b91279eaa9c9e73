package codex

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

// subagentHome is a home with threads that began some hours after midnight. Their own tokens are 1, 10, 100, …
type subagentHome struct {
	*testHome
	used int
}

var midnight = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func newSubagentHome(t *testing.T) *subagentHome { return &subagentHome{newTestHome(t), 1} }

func idAt(hours int) string {
	id := fmt.Sprintf("%012x", midnight.Add(time.Duration(hours)*time.Hour).UnixMilli())
	return id[:8] + "-" + id[8:] + "-7000-8000-000000000000"
}

// rolloutPath is the path of a thread that began at that hour; end is the last part of its name.
func rolloutPath(hours int, end string) string {
	at := midnight.Add(time.Duration(hours) * time.Hour)
	return at.Format("sessions/2006/01/02/rollout-2006-01-02T15-04-05-") + idAt(hours) + end
}

// thread writes a thread that was active from one hour to another. origin is the part of its first record that names its parent.
func (w *subagentHome) thread(from, to int, origin string) (id string) {
	w.t.Helper()
	return w.threadAt(rolloutPath(from, plainExt), from, to, origin)
}

func (w *subagentHome) threadAt(name string, from, to int, origin string) (id string) {
	w.t.Helper()
	const line = `{"timestamp":"2026-11-20T19:00:00Z","type":"%s","payload":{%s}}` + "\n"
	usage := fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%[1]d,"total_tokens":%d}`, w.used, 2*w.used)
	text := fmt.Sprintf(line, "session_meta", `"id":"`+idAt(from)+`",`+origin+`"base_instructions":{"text":"`+strings.Repeat("x", 20_000)+`"}`) +
		fmt.Sprintf(line, "event_msg", `"type":"token_count","info":{"total_token_usage":`+usage+`,"last_token_usage":`+usage+`,"model_context_window":7}`)
	file := w.file(name, text)
	end := midnight.Add(time.Duration(to) * time.Hour)
	if err := os.Chtimes(file, end, end); err != nil {
		w.t.Fatal(err)
	}
	w.used *= 10
	return idAt(from)
}

func spawned(root, by string) string {
	return `"session_id":"` + root + `","parent_thread_id":"` + by + `","source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + by + `"}}},`
}

// spawnedLegacy is the origin as 0.104 records it.
func spawnedLegacy(by string) string {
	return `"source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + by + `"}}},`
}

const own = `"source":"exec",`

// inputTokens returns the input tokens of each record, -1 if they are unknown.
func inputTokens(t *testing.T, w *subagentHome, q discover.EntryFilter, want discover.ReadOptions) (map[string]int64, []error) {
	t.Helper()
	out := map[string]int64{}
	records, warnings := readEntries(t, w.home, q, want)
	for _, r := range records {
		out[r.ID] = -1
		if r.Tokens != nil {
			out[r.ID] = r.Tokens.In
			if r.Tokens.Total != 2*r.Tokens.In || r.Tokens.Window != 7 || !strings.Contains("1 2 20 200 2000 20000 200000", fmt.Sprint(r.Tokens.Context)) {
				t.Errorf("%s: %+v", r.ID, r.Tokens)
			}
		}
	}
	return out, warnings
}

// The tokens of a session include those of its sub-agents, and theirs: for one session, for a list of all, and for a list of recent ones.
// Without the option, they are the thread's own.
func TestTokensWithSubagents(t *testing.T) {
	w := newSubagentHome(t)
	root := w.thread(10, 12, own)
	kid := w.thread(11, 90, spawned(root, root))
	grandkid := w.thread(80, 81, spawned(root, kid)) // when the root had long ended
	other := w.thread(9, 13, own)
	w.threadAt(filepath.Join(archiveDir, filepath.Base(rolloutPath(13, plainExt))), 13, 14, spawnedLegacy(kid)) // archived
	w.thread(12, 13, `"source":{"subagent":"review"},`)                                                         // whose, nobody recorded
	all := map[string]int64{root: 10111, kid: 10110, grandkid: 100, other: 1000, idAt(13): 10000, idAt(12): 100000}

	for name, want := range map[string]discover.ReadOptions{"tokens": {Tokens: true}, "all": {Tokens: true, AllEntries: true}, "whole": {Full: true}} {
		if got, warnings := inputTokens(t, w, discover.EntryFilter{}, want); !maps.Equal(got, all) || warnings != nil {
			t.Errorf("%s: %v, want %v; %v", name, got, all, warnings)
		}
	}
	for id, sum := range all {
		if got, _ := inputTokens(t, w, discover.EntryFilter{ID: id}, discover.ReadOptions{Full: true}); len(got) != 1 || got[id] != sum {
			t.Errorf("status of %s: %v, want %d", id, got, sum)
		}
	}
	late, _ := inputTokens(t, w, discover.EntryFilter{Since: midnight.Add(85 * time.Hour)}, discover.ReadOptions{Tokens: true})
	if len(late) != 1 || late[kid] != all[kid] {
		t.Errorf("of late: %v", late)
	}
	cheap, _ := inputTokens(t, w, discover.EntryFilter{}, discover.ReadOptions{})
	if cheap[root] != 1 || cheap[kid] != 10 || New().IncludesSubagents(discover.ReadOptions{}) {
		t.Errorf("not asked for: %v", cheap)
	}
}

// The tokens of a sub-agent with an edited prompt include those of all its rollouts.
func TestTokensOfAnEditedSubagent(t *testing.T) {
	w := newSubagentHome(t)
	root := w.thread(10, 12, own)
	w.thread(11, 12, spawned(root, root))
	w.threadAt(rolloutPath(40, plainExt)[:len("sessions/2026/11/20/rollout-2026-11-20T19-12-38-")]+idAt(11)+"_"+idAt(40)+plainExt, 11, 41, spawned(root, root))
	if got, warnings := inputTokens(t, w, discover.EntryFilter{ID: root}, discover.ReadOptions{Full: true}); got[root] != 111 || warnings != nil {
		t.Errorf("%v, %v", got, warnings)
	}
}

// A compressed sub-agent counts, however long its first record is; if that is too long, the total is unknown.
func TestTokensOfACompressedSubagent(t *testing.T) {
	for size, want := range map[int]int64{1: 11, 2 << 20: 11, 5 << 20: -1} {
		w := newSubagentHome(t)
		root := w.thread(10, 12, own)
		w.thread(11, 12, spawned(root, root)+`"instructions":"`+strings.Repeat("x", size)+`",`)
		plain := filepath.Join(w.home, rolloutPath(11, plainExt))
		data, err := os.ReadFile(plain)
		if err == nil {
			w.file(rolloutPath(11, compressedExt), string(compress(t, data)))
			err = os.Remove(plain)
		}
		got, warnings := inputTokens(t, w, discover.EntryFilter{ID: root}, discover.ReadOptions{Tokens: true})
		if err != nil || got[root] != want || (warnings == nil) != (want > 0) {
			t.Errorf("%d bytes: %v, want %d; %v, %v", size, got, want, warnings, err)
		}
	}
}

// Damaged records that form a loop count each thread once.
func TestTokensInALoop(t *testing.T) {
	w := newSubagentHome(t)
	for _, hours := range [][2]int{{10, 12}, {11, 10}, {12, 11}, {13, 13}} {
		w.thread(hours[0], 14, spawnedLegacy(idAt(hours[1])))
	}
	want := map[string]int64{idAt(10): 111, idAt(11): 111, idAt(12): 111, idAt(13): 1000}
	if got, warnings := inputTokens(t, w, discover.EntryFilter{}, discover.ReadOptions{Tokens: true}); !maps.Equal(got, want) || warnings != nil {
		t.Errorf("%v, want %v; %v", got, want, warnings)
	}
}

// A total that may lack a part is unknown: if a sub-agent's tokens are unknown, or an unreadable thread may be a sub-agent. Other totals
// stay.
func TestTokensWithUnreadableSubagents(t *testing.T) {
	for name, test := range map[string]func(w *subagentHome, root string){
		"no beginning": func(w *subagentHome, _ string) { w.file(rolloutPath(11, plainExt), "{}\n") },
		"a damaged beginning": func(w *subagentHome, root string) {
			w.file(rolloutPath(11, plainExt), `{"timestamp":"2026-11-20T19:00:00Z","type":"session_meta","payload":{`+spawned(root, root)+"\n{}\n")
		},
		"no file":   func(w *subagentHome, _ string) { w.file(rolloutPath(11, plainExt)+"/x", "") },
		"no folder": func(w *subagentHome, _ string) { w.file("sessions/2026/11/21", "") },
		"half of it": func(w *subagentHome, root string) {
			w.file(rolloutPath(11, compressedExt), "nonsense")
			w.threadAt(rolloutPath(40, "_"+idAt(40)+plainExt), 11, 41, spawned(root, root))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSubagentHome(t)
			root, before := w.thread(10, 12, own), w.thread(1, 2, own)
			test(w, root)
			for _, q := range []discover.EntryFilter{{}, {ID: root}} {
				got, warnings := inputTokens(t, w, q, discover.ReadOptions{Tokens: true})
				if got[root] != -1 || len(warnings) == 0 {
					t.Errorf("%+v: %v, warnings %v", q, got, warnings)
				}
				if sum, ok := got[before]; ok && sum != 10 && name != "no folder" {
					t.Errorf("%+v: before that %d", q, sum)
				}
			}
		})
	}
}

// A count after a full context that is smaller than the context counts as it is.
func TestTokensOfContradictingCounts(t *testing.T) {
	w := newSubagentHome(t)
	const count = `{"timestamp":"2026-11-20T19:00:00Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":%s,"last_token_usage":{"total_tokens":1},"model_context_window":7}}}` + "\n"
	id := w.thread(1, 2, own)
	w.file(rolloutPath(1, plainExt), `{"timestamp":"2026-11-20T19:00:00Z","type":"session_meta","payload":{"id":"`+id+`"}}`+"\n"+
		fmt.Sprintf(count, `{"total_tokens":8000000}`)+fmt.Sprintf(count, `{"input_tokens":900,"output_tokens":900,"total_tokens":1800}`))
	got, warnings := inputTokens(t, w, discover.EntryFilter{}, discover.ReadOptions{Tokens: true})
	if got[id] != 900 || len(warnings) > 0 {
		t.Errorf("%v, warnings %v", got, warnings)
	}
}
