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

// subagentHome are threads of a home that were begun some hours after midnight, each with what it has used itself: 1, 10, 100, …
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

// path is where a thread lies that was begun at that hour; the end is that of its name.
func path(hours int, end string) string {
	at := midnight.Add(time.Duration(hours) * time.Hour)
	return at.Format("sessions/2006/01/02/rollout-2006-01-02T15-04-05-") + idAt(hours) + end
}

// thread writes a thread that was at work from one hour to another. origin says in its first record whom it works for.
func (w *subagentHome) thread(from, to int, origin string) (id string) {
	w.t.Helper()
	return w.threadAt(path(from, plainExt), from, to, origin)
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

// byOldest is what 0.104 records.
func byOldest(by string) string {
	return `"source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + by + `"}}},`
}

const own = `"source":"exec",`

// inputs is the input of each record, -1 where it is not known.
func inputs(t *testing.T, w *subagentHome, q discover.EntryFilter, want discover.ReadOptions) (map[string]int64, []error) {
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

// What a session has used has its sub-agents in it, and theirs, whoever asks: status of one session, a list of all, or of
// those that changed of late. What was not asked for stays cheap: the thread's own.
func TestTokensOfAFamily(t *testing.T) {
	w := newSubagentHome(t)
	root := w.thread(10, 12, own)
	kid := w.thread(11, 90, spawned(root, root))
	grandkid := w.thread(80, 81, spawned(root, kid)) // when the root had long ended
	other := w.thread(9, 13, own)
	w.threadAt(filepath.Join(archiveDir, filepath.Base(path(13, plainExt))), 13, 14, byOldest(kid)) // archived
	w.thread(12, 13, `"source":{"subagent":"review"},`)                                             // whose, nobody recorded
	all := map[string]int64{root: 10111, kid: 10110, grandkid: 100, other: 1000, idAt(13): 10000, idAt(12): 100000}

	for name, want := range map[string]discover.ReadOptions{"tokens": {Tokens: true}, "all": {Tokens: true, AllEntries: true}, "whole": {Full: true}} {
		if got, warnings := inputs(t, w, discover.EntryFilter{}, want); !maps.Equal(got, all) || warnings != nil {
			t.Errorf("%s: %v, want %v; %v", name, got, all, warnings)
		}
	}
	for id, sum := range all {
		if got, _ := inputs(t, w, discover.EntryFilter{ID: id}, discover.ReadOptions{Full: true}); len(got) != 1 || got[id] != sum {
			t.Errorf("status of %s: %v, want %d", id, got, sum)
		}
	}
	late, _ := inputs(t, w, discover.EntryFilter{Since: midnight.Add(85 * time.Hour)}, discover.ReadOptions{Tokens: true})
	if len(late) != 1 || late[kid] != all[kid] {
		t.Errorf("of late: %v", late)
	}
	cheap, _ := inputs(t, w, discover.EntryFilter{}, discover.ReadOptions{})
	if cheap[root] != 1 || cheap[kid] != 10 || New().IncludesSubagents(discover.ReadOptions{}) {
		t.Errorf("not asked for: %v", cheap)
	}
}

// A sub-agent whose prompt was edited has gone on in another rollout.
func TestTokensOfAnEditedSubAgent(t *testing.T) {
	w := newSubagentHome(t)
	root := w.thread(10, 12, own)
	w.thread(11, 12, spawned(root, root))
	w.threadAt(path(40, plainExt)[:len("sessions/2026/11/20/rollout-2026-11-20T19-12-38-")]+idAt(11)+"_"+idAt(40)+plainExt, 11, 41, spawned(root, root))
	if got, warnings := inputs(t, w, discover.EntryFilter{ID: root}, discover.ReadOptions{Full: true}); got[root] != 111 || warnings != nil {
		t.Errorf("%v, %v", got, warnings)
	}
}

// Damaged records that lead round in a circle count everybody once.
func TestTokensInACircle(t *testing.T) {
	w := newSubagentHome(t)
	for _, hours := range [][2]int{{10, 12}, {11, 10}, {12, 11}, {13, 13}} {
		w.thread(hours[0], 14, byOldest(idAt(hours[1])))
	}
	want := map[string]int64{idAt(10): 111, idAt(11): 111, idAt(12): 111, idAt(13): 1000}
	if got, warnings := inputs(t, w, discover.EntryFilter{}, discover.ReadOptions{Tokens: true}); !maps.Equal(got, want) || warnings != nil {
		t.Errorf("%v, want %v; %v", got, want, warnings)
	}
}

// A sum that lacks a part is none: where what a sub-agent has used cannot be told, or whether a file is one's. What is told
// of others stays.
func TestTokensOfAFamilyWithGaps(t *testing.T) {
	for name, test := range map[string]func(w *subagentHome, root string){
		"no beginning": func(w *subagentHome, _ string) { w.file(path(11, plainExt), "{}\n") },
		"a damaged beginning": func(w *subagentHome, root string) {
			w.file(path(11, plainExt), `{"timestamp":"2026-11-20T19:00:00Z","type":"session_meta","payload":{`+spawned(root, root)+"\n{}\n")
		},
		"no file":   func(w *subagentHome, _ string) { w.file(path(11, plainExt)+"/x", "") },
		"no folder": func(w *subagentHome, _ string) { w.file("sessions/2026/11/21", "") },
		"half of it": func(w *subagentHome, root string) {
			w.file(path(11, compressedExt), "nonsense")
			w.threadAt(path(40, "_"+idAt(40)+plainExt), 11, 41, spawned(root, root))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSubagentHome(t)
			root, before := w.thread(10, 12, own), w.thread(1, 2, own)
			test(w, root)
			for _, q := range []discover.EntryFilter{{}, {ID: root}} {
				got, warnings := inputs(t, w, q, discover.ReadOptions{Tokens: true})
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

// It is said why a session's tokens are not known.
func TestTokensOfAVagueSubAgent(t *testing.T) {
	threads := func(yield func(*storedThread, error) bool) {
		for _, t := range []storedThread{
			{Record: discover.Record{ID: idAt(1), Tokens: &discover.Tokens{In: 1}}},
			{Record: discover.Record{ID: idAt(2), Path: "/x/kid"}, startedBy: idAt(1), tokensUnknown: true},
		} {
			yield(&t, nil)
		}
	}
	warnings := 0
	for r, err := range withSubagentTokens(t.Context(), threads, true) {
		if err != nil {
			warnings += len(split(t, err))
		} else if r.Tokens != nil {
			t.Errorf("%s: %+v", r.ID, r.Tokens)
		}
	}
	if warnings != 1 {
		t.Errorf("%d warnings", warnings)
	}
}

// A negative sum is no answer: what was used is unknown where the counts contradict each other.
func TestTokensOfContradictingCounts(t *testing.T) {
	w := newSubagentHome(t)
	const count = `{"timestamp":"2026-11-20T19:00:00Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":%s}}}` + "\n"
	id := w.thread(1, 2, own)
	w.file(path(1, plainExt), `{"timestamp":"2026-11-20T19:00:00Z","type":"session_meta","payload":{"id":"`+id+`"}}`+"\n"+
		fmt.Sprintf(count, `{"total_tokens":8000000}`)+fmt.Sprintf(count, `{"input_tokens":900,"output_tokens":100,"total_tokens":1000}`))
	got, warnings := inputs(t, w, discover.EntryFilter{}, discover.ReadOptions{Tokens: true})
	if got[id] != -1 || len(warnings) != 1 || !strings.Contains(warnings[0].Error(), "contradict") {
		t.Errorf("%v, warnings %v", got, warnings)
	}
}
