package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"agentctl/discover"
	"agentctl/discover/agents"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/store/generate"
)

// newStore makes a store of all agents with a random prompt, in a random encoding, at the end of each session.
func newStore(t *testing.T, r *rand.Rand) (*discover.Scanner, []string) {
	home := t.TempDir()
	o := generate.Defaults()
	o.Sessions, o.Min, o.Median, o.Max = 60, 1000, 2000, 4000
	sessions, err := generate.Store(home, o)
	must.Do(t, err)
	var texts []string
	for _, s := range sessions {
		text := randomText(r, 12)
		texts = append(texts, text)
		switch s.Agent {
		case "claude-code":
			appendLine(t, s.Path, fmt.Sprintf(`{"type":"user","isSidechain":false,"uuid":"u","sessionId":%q,"timestamp":"2026-10-31T00:00:00.000Z","message":{"role":"user","content":%s}}`, s.ID, encode(r, text)))
		case "codex":
			appendLine(t, s.Path, fmt.Sprintf(`{"timestamp":"2026-10-31T00:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":%s}}`, encode(r, text)))
		default:
			setPart(t, s.Path, s.ID, fmt.Sprintf(`{"type":"text","text":%s}`, encode(r, text)))
		}
	}
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	return &discover.Scanner{
		Adapters:    agents.All(),
		HomeSources: func(discover.Agent) discover.HomeSources { return discover.HomeSources{Getenv: getenv} },
		ReadTable:   func(context.Context, bool) (*proc.Table, error) { return proc.EmptyTable(), nil },
		PID:         os.Getpid(), UID: os.Geteuid(),
	}, texts
}

func appendLine(t *testing.T, path, line string) {
	if strings.HasSuffix(path, ".zst") {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must.Do(t, err)
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		t.Fatal(err)
	}
}

// setPart replaces a text of a session in a database.
func setPart(t *testing.T, path, session, data string) {
	db, err := sqlite3.Open(path)
	must.Do(t, err)
	defer db.Close()
	s, _, err := db.Prepare(`UPDATE part SET data = ?1 WHERE rowid = (SELECT min(rowid) FROM part WHERE session_id = ?2 AND data LIKE '{"type":"text"%')`)
	must.Do(t, err)
	defer s.Close()
	must.Do(t, s.BindText(1, data))
	must.Do(t, s.BindText(2, session))
	must.Do(t, s.Exec())
}

// found lists what a search finds: each session with its matches.
func found(t *testing.T, scanner *discover.Scanner, q Query) (all []string) {
	_, err := Run(t.Context(), scanner, q, func(f Found) bool {
		for _, err := range f.Errors {
			t.Error(err)
		}
		for _, m := range f.Matches {
			all = append(all, fmt.Sprintf("%s %s %s %v", f.Agent, f.ID, m.ID, m.Spans))
		}
		return true
	}, func(warnings []*discover.Warning) {
		for _, w := range warnings {
			t.Error(w)
		}
	})
	must.Do(t, err)
	slices.Sort(all)
	return all
}

// A search that skips what cannot match finds what a search finds that decodes everything.
func TestSearchFindsWhatDecodingFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	scanner, texts := newStore(t, r)
	foundIn := map[string]bool{}
	searches := 25
	if testing.Short() {
		searches = 3
	}
	for range searches {
		o := PatternOptions{Literal: r.IntN(2) == 0, Words: r.IntN(5) == 0}
		pattern := randomPattern(r, 1)
		if o.Literal {
			text := []rune(texts[r.IntN(len(texts))])
			pattern = string(text[:min(len(text), 1+r.IntN(5))])
		}
		if pattern == "" {
			continue
		}
		p, err := Compile(o, pattern)
		must.Do(t, err)
		got := found(t, scanner, Query{Pattern: p})
		want := found(t, scanner, Query{Pattern: &Pattern{first: p.first, next: p.next}})
		if !slices.Equal(got, want) {
			t.Fatalf("%q %+v: found %d, want %d\n%q\n%q", pattern, o, len(got), len(want), got, want)
		}
		for _, f := range got {
			agent, _, _ := strings.Cut(f, " ")
			foundIn[agent] = true
		}
	}
	if len(foundIn) != 3 && !testing.Short() {
		t.Errorf("something was found of %v only", foundIn)
	}
}

// A session is found whose file states another ID than its name does, as a copy that was renamed.
func TestRenamedFile(t *testing.T) {
	scanner, _ := newStore(t, rand.New(rand.NewPCG(3, 3)))
	r, err := scanner.List(t.Context(), discover.SessionFilter{Agents: []discover.Agent{"codex"}, IncludeStopped: true})
	must.Do(t, err)
	i := slices.IndexFunc(r.Sessions, func(s discover.Session) bool { return strings.HasSuffix(s.Path, s.ID+".jsonl") })
	s := r.Sessions[i]
	must.Do(t, os.Rename(s.Path, strings.TrimSuffix(s.Path, s.ID[30:]+".jsonl")+"abcdef.jsonl"))
	p, err := Compile(PatternOptions{}, ".")
	must.Do(t, err)
	all := found(t, scanner, Query{Pattern: p, Sessions: discover.SessionFilter{Agents: []discover.Agent{"codex"}}})
	if !slices.ContainsFunc(all, func(f string) bool { return strings.HasPrefix(f, "codex "+s.ID) }) {
		t.Errorf("%s is not found", s.ID)
	}
}

// A search reports how many sessions it has searched, up to all of them.
func TestProgress(t *testing.T) {
	scanner, texts := newStore(t, rand.New(rand.NewPCG(2, 2)))
	p, err := Compile(PatternOptions{Literal: true}, "nothing has this")
	must.Do(t, err)
	var searched []int
	q := Query{Pattern: p, Progress: func(n, total int) {
		if searched = append(searched, n); total != len(texts) {
			t.Errorf("%d of %d, there are %d", n, total, len(texts))
		}
	}}
	if got := found(t, scanner, q); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if n := len(searched); n < 3 || searched[0] != 0 || searched[n-1] != len(texts) || !slices.IsSorted(searched) {
		t.Errorf("%v of %d", searched, len(texts))
	}
}

// The newest session is found first, and a search that has enough ends.
func TestNewestFirst(t *testing.T) {
	scanner, _ := newStore(t, rand.New(rand.NewPCG(1, 1)))
	p, err := Compile(PatternOptions{}, ".")
	must.Do(t, err)
	var times []time.Time
	_, err = Run(t.Context(), scanner, Query{Pattern: p, MaxMatches: 2}, func(f Found) bool {
		if len(f.Matches) > 2 {
			t.Errorf("%d matches", len(f.Matches))
		}
		times = append(times, f.Updated)
		return len(times) < 40
	}, func([]*discover.Warning) {})
	if err != nil || len(times) != 40 {
		t.Fatal(len(times), err)
	}
}
