package pi

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/tests/must"
)

func TestFileNames(t *testing.T) {
	made := time.Date(2026, 11, 26, 13, 21, 24, 898e6, time.UTC)
	for name, want := range map[string]fileName{
		"2026-11-26T13-21-24-898Z_01a21804-9ba1-71ea-8c8f-1a47d55348fd.jsonl": {"01a21804-9ba1-71ea-8c8f-1a47d55348fd", made},
		"2026-11-26T13-21-24-898Z_my.id_2.jsonl":                              {"my.id_2", made},
		"2026-11-26T13-21-24-898Z_x.jsonl":                                    {"x", made},
		"2026-11-26T13-21-24-898Z_.jsonl":                                     {},
		"2026-11-26T13-21-24-898Z_-x.jsonl":                                   {},
		"2026-11-26T13-21-24-898Z_a b.jsonl":                                  {},
		"2026-11-26T13-21-24-898Z_\x1b[31m.jsonl":                             {},
		"2026-11-26T13-21-24-8x8Z_x.jsonl":                                    {},
		"2026-13-26T13-21-24-898Z_x.jsonl":                                    {},
		"rollout-2026-11-20T19-00-00-x.jsonl":                                 {},
		"x.jsonl":                                                             {},
		"2026-11-26T13-21-24-898Z_x.json":                                     {},
	} {
		if got, ok := parseFileName(name); ok != (want != fileName{}) || got != want {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("2026-11-26T13-21-24-898Z_my.id_2.jsonl")
	f.Fuzz(func(t *testing.T, name string) {
		if n, ok := parseFileName(name); ok && (!strings.HasSuffix(name, "_"+n.id+".jsonl") || strings.ContainsAny(n.id, "/\x1b \n") || n.made.IsZero()) {
			t.Fatalf("%q: %+v", name, n)
		}
	})
}

// home makes a home with these files.
func home(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
	return dir
}

const (
	nameA = "2026-11-26T10-00-00-000Z_s1.jsonl"
	nameB = "2026-11-26T11-00-00-000Z_s2.jsonl"
)

// Sessions are found in the folders of directories, in the session directory itself, and in a home that is one. One ID in two folders is
// two sessions. An ID is looked up by name.
func TestEntries(t *testing.T) {
	text := string(session(headerLine, userLine, answerLine))
	dir := home(t, map[string]string{
		"sessions/--a--/" + nameA: text, "sessions/--b--/" + nameA: text, "sessions/" + nameB: text, nameB: text, "sessions/--a--/notes.jsonl": "x",
		"sessions/--a--/deeper/" + nameB: text,
	})
	byPath := filepath.Join(dir, "sessions/--b--", nameA)
	for name, test := range map[string]struct {
		filter discover.EntryFilter
		want   []string
	}{
		"all":         {discover.EntryFilter{}, []string{nameB, "sessions/--a--/" + nameA, "sessions/--b--/" + nameA, "sessions/" + nameB}},
		"by ID":       {discover.EntryFilter{ID: "s1"}, []string{"sessions/--a--/" + nameA, "sessions/--b--/" + nameA}},
		"by path":     {discover.EntryFilter{Refs: []discover.Ref{{ID: "s1", Path: byPath}}}, []string{"sessions/--b--/" + nameA}},
		"of another":  {discover.EntryFilter{Refs: []discover.Ref{{ID: "s1", Path: "/x/" + nameA}}}, nil},
		"by both":     {discover.EntryFilter{Refs: []discover.Ref{{ID: "s1", Path: byPath}, {ID: "s2"}}}, []string{nameB, "sessions/--b--/" + nameA, "sessions/" + nameB}},
		"sub-agents":  {discover.EntryFilter{Parents: []discover.Ref{{ID: "s1"}}}, nil},
		"newer":       {discover.EntryFilter{Since: time.Now().Add(time.Hour)}, nil},
		"an other ID": {discover.EntryFilter{ID: "s3"}, nil},
	} {
		entries, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, test.filter)
		var got []string
		for _, e := range entries {
			rel, _ := filepath.Rel(dir, e.Path)
			got = append(got, rel)
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := New().Entries(t.Context(), []discover.Home{{Dir: dir + "/none"}}, discover.EntryFilter{}); err != nil {
		t.Error(err)
	}
}

// The session directory of the environment or of the settings is a home of its own.
func TestHomes(t *testing.T) {
	dir := home(t, map[string]string{".pi/agent/settings.json": `{"sessionDir":"~/elsewhere"}`})
	env := map[string]string{"HOME": dir, "PI_CODING_AGENT_SESSION_DIR": "/flat"}
	sources := discover.HomeSources{Getenv: func(key string) string { return env[key] }, Configured: []string{"/mine"}}
	dirs := func() (list []string) {
		for _, h := range New().Homes(sources, table()) {
			if list = append(list, h.Dir); !h.FromUser || h.Explicit != (h.Dir == "/mine") {
				t.Errorf("%+v", h)
			}
		}
		return list
	}
	if got := dirs(); !slices.Equal(got, []string{dir + "/.pi/agent", "/mine", "/flat", dir + "/elsewhere"}) {
		t.Error(got)
	}
	env = map[string]string{"HOME": dir, "PI_CODING_AGENT_DIR": "/other"}
	if got := dirs(); !slices.Equal(got, []string{"/other", "/mine"}) {
		t.Error(got)
	}
}

// What a session used is that of its answers and summaries. What a fork has copied is not the fork's.
func TestUsage(t *testing.T) {
	header := strings.NewReplacer("10:00:00", "10:00:03", `"cwd"`, `"parentSession":"/h/`+nameA+`","cwd"`, `"s1"`, `"s2"`).Replace(headerLine)
	extra := `{"type":"usage","id":"x1","parentId":"a2","timestamp":"2026-11-26T10:00:09.000Z","kind":"cache_warm","model":"n","usage":{"cacheRead":100,"cost":{"total":0.125}}}`
	dir := home(t, map[string]string{
		"sessions/--w--/" + nameA: string(session(headerLine, userLine, callLine, resultLine, answerLine, extra)),
		"sessions/--w--/" + nameB: string(session(header, userLine, callLine, resultLine, answerLine)),
	})
	entries, _ := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, discover.EntryFilter{})
	got := map[string]*discover.SessionUsage{}
	for u, err := range New().ReadUsage(t.Context(), entries) {
		must.Do(t, err)
		got[u.ID] = u
	}
	want := discover.Tokens{In: 30, Out: 11, CacheRead: 103, CacheWrite: 2, Reasoning: 1, Total: 146, Context: 26}
	if u := got["s1"]; len(u.Usage) != 3 || *u.Tokens != want || math.Abs(*u.Cost-0.875) > 1e-9 || !u.Usage[2].CostKnown || u.Usage[2].Model != "n" {
		t.Errorf("%+v, %+v", u.Usage, u.Tokens)
	}
	if u := got["s2"]; u.ForkedFrom != "s1" || len(u.Usage) != 1 || u.Tokens.Total != 26 || u.Tokens.Context != 26 || *u.Cost != 0.25 {
		t.Errorf("%+v, %+v", u.Usage, u.Record)
	}
}

// Of a home, all is counted; of a session directory, the sessions alone.
func TestDiskUse(t *testing.T) {
	text := string(session(headerLine, userLine))
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"home":              {map[string]string{"sessions/--w--/" + nameA: text, "auth.json": "x"}, []string{"auth.json", "folder", "sessions", "transcript"}},
		"session directory": {map[string]string{nameA: text, "other": "x"}, []string{"transcript"}},
	} {
		homes := []discover.Home{{Dir: home(t, test.files)}}
		records, _ := readHome(t, homes[0].Dir, discover.ReadOptions{})
		var got []string
		for u, err := range New().ReadDisk(t.Context(), homes, records) {
			if err != nil || u.Bytes == 0 || (u.Owner >= 0) != (u.Kind == "transcript") {
				t.Errorf("%+v, %v", u, err)
			}
			got = append(got, u.Kind)
		}
		if slices.Sort(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
