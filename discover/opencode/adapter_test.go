package opencode

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/tests/must"
)

// Ranges of IDs are right across the moment at which the time in IDs wraps around.
func TestIDsSince(t *testing.T) {
	created := time.UnixMilli(1795201766525) // SEEN: ses_e05a2eb82ffe…
	holds := func(spans []idRange, id string) bool {
		return slices.ContainsFunc(spans, func(s idRange) bool { return id >= s.from && id < s.to })
	}
	const id = "ses_e05a2eb82ffei3FepNAqdqxz65"
	if spans := sessionIDsSince(created); !holds(spans, id) {
		t.Errorf("its own time: %v", spans)
	}
	if spans := sessionIDsSince(created.Add(time.Second)); holds(spans, id) {
		t.Errorf("a second later: %v", spans)
	}
	for _, start := range []int64{1<<36*26 - 500, 1<<36*26 + 500, 1<<36*26 - 1<<35} {
		spans := messageIDsSince(time.UnixMilli(start))
		if now := messageIDsSince(time.UnixMilli(start + 1000)); !holds(spans, now[0].from+"x") {
			t.Errorf("%d: %v does not hold a second later", start, spans)
		}
		if before := messageIDsSince(time.UnixMilli(start - 1000)); holds(spans, before[0].from+"x") {
			t.Errorf("%d: %v holds a second before", start, spans)
		}
	}
}

func TestParseArgs(t *testing.T) {
	const id = "ses_e05979612ffe415jjjmvTetWgF"
	for line, want := range map[string]commandLine{
		"":                                   {mode: modeTUI},
		"/some/project":                      {mode: modeTUI},
		"-s " + id:                           {mode: modeTUI, session: id, resumes: true},
		"-c --fork":                          {mode: modeTUI},
		"-m a/b run -s " + id + " hi there":  {mode: modeRun, name: "run", session: id, resumes: true},
		"run --session=" + id + " --fork x":  {mode: modeRun, name: "run"},
		"run --title T -f a.txt x -- --help": {mode: modeRun, name: "run"},
		"run --log-level ERROR x":            {mode: modeRun, name: "run"},
		"--print-logs serve --port 1":        {mode: modeServer, name: "serve"},
		"serve --service":                    {mode: modeServer, name: "serve", generation: generation2},
		"acp --cwd /x":                       {mode: modeServer, name: "acp"},
		"run --attach=http://h x":            {mode: modeNone, name: "run", generation: generation1},
		"attach http://h -s " + id:           {mode: modeNone, name: "attach", session: id, resumes: true, serverURL: "http://h", generation: generation1},
		"serve --stdio --port 0":             {mode: modeServer, name: "serve", standalone: true, generation: generation2},
		"--server http://h -s " + id:         {mode: modeTUI, session: id, resumes: true, serverURL: "http://h", generation: generation2},
		"--port 0":                           {mode: modeTUI, generation: generation1},
		"session list":                       {mode: modeNone, name: "session"},
		"--model":                            {mode: modeTUI},
		"run -s":                             {mode: modeRun, name: "run"},
	} {
		got := parseArgs(strings.Fields(line))
		if got.word = ""; !reflect.DeepEqual(got, want) {
			t.Errorf("%q\ngot  %+v\nwant %+v", line, got, want)
		}
	}
}

// TestKindsAreKnown: the captured sessions of all versions have only parts of types that are known.
func TestKindsAreKnown(t *testing.T) {
	n := 0
	check := func(dir string) {
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
		if err != nil {
			t.Error(err)
		}
		for _, r := range records {
			n++
			if unknown, err := New().Tried().UnknownKinds(t.Context(), r); err != nil || len(unknown) > 0 {
				t.Errorf("%s in %s: %q, %v", r.ID, dir, unknown, err)
			}
		}
	}
	dumps, _ := filepath.Glob("testdata/dumps/*.sql")
	for _, d := range dumps {
		check(restore(t, strings.TrimSuffix(filepath.Base(d), ".sql")))
	}
	if n < 15 {
		t.Errorf("%d sessions", n)
	}
}

// TestUnknownKinds: a part of a type that is not known is reported once.
func TestUnknownKinds(t *testing.T) {
	dir := restore(t, "said")
	execute(t, filepath.Join(dir, "opencode.db"), `UPDATE part SET data = json_set(data, '$.type', 'vision') WHERE json_extract(data, '$.type') = 'reasoning' OR id IN (SELECT id FROM part LIMIT 2)`)
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, discover.ReadOptions{})
	if err != nil || len(records) == 0 {
		t.Fatalf("%d sessions, %v", len(records), err)
	}
	var all []string
	for _, r := range records {
		unknown, err := New().Tried().UnknownKinds(t.Context(), r)
		if err != nil {
			t.Error(err)
		}
		all = append(all, unknown...)
	}
	if !slices.Contains(all, "vision") || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 1 {
		t.Errorf("%q", all)
	}
	if got, err := New().Tried().UnknownKinds(t.Context(), discover.Record{ID: "ses_x", Home: dir, Path: filepath.Join(dir, "gone.db")}); err != nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A session in a database has the bytes of its rows, and the database has the rest.
func TestDiskUseOfRows(t *testing.T) {
	for _, dump := range []string{"family", "v2"} {
		dir := restore(t, dump)
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
		must.Do(t, err)
		rows, rest := map[string]int64{}, int64(0)
		for u, err := range (Adapter{}).ReadDisk(t.Context(), homeOf(dir), records) {
			switch {
			case err != nil:
				t.Fatal(err)
			case u.Owner >= 0 && u.Estimated:
				rows[records[u.Owner].ID] += u.Bytes
			case u.Path == filepath.Join(dir, "opencode.db"):
				rest = u.Bytes
			}
		}
		for _, r := range records {
			if rows[r.ID] <= 0 {
				t.Errorf("%s: %s has no rows", dump, r.ID)
			}
		}
		if rest <= 0 {
			t.Errorf("%s: the database has nothing left", dump)
		}
	}
}

// A search finds the sessions with a word. Where a page is damaged, it also returns those that it cannot read.
func TestFilterContent(t *testing.T) {
	const sessions = 60
	path := storeToDamage(t, sessions)
	entries, err := New().Entries(t.Context(), homeOf(filepath.Dir(path)), discover.EntryFilter{Subagents: true})
	must.Do(t, err)
	filter := func(word string) []discover.Entry {
		return New().FilterContent(t.Context(), entries, func(b []byte) bool { return bytes.Contains(b, []byte(word)) })
	}
	for word, want := range map[string]int{"prompt 7\"": 1, "answer 3": 11, "xylophone": 0, "text": sessions} {
		if got := filter(word); len(got) != want {
			t.Errorf("%s: %d sessions, want %d", word, len(got), want)
		}
	}
	wanted := filter("prompt 7\"")[0].ID
	whole, err := os.ReadFile(path)
	must.Do(t, err)
	damages := 0
	for page := 2; page <= len(whole)/damagedPage; page++ {
		writeFile(t, path, damage(whole, page))
		got := filter("prompt 7\"")
		found := false
		for _, e := range got {
			found = found || e.ID == wanted
		}
		if !found {
			t.Errorf("page %d: the session is not among %d", page, len(got))
		}
		if len(got) > 1 {
			damages++
		}
	}
	if damages < 5 {
		t.Errorf("%d damages", damages)
	}
}

// The time in a message's ID is the message's time, also if the 48 bits have wrapped around in between.
func TestMessageIDTime(t *testing.T) {
	const created = 1795222480365
	for _, c := range []struct {
		id           string
		before, want int64
	}{
		{"msg_1fb9925ed0018cKfoeYEghMV1N", created + 880, created}, // SEEN 1.18.33
		{"msg_1fb9925ed0018cKfoeYEghMV1N", created, created},
		{"msg_fffffffff001aaaaaaaaaaaaaa", 1 << 36 * 26, 1<<36*26 - 1},
		{"msg_1fb9925ed0018cKfoeYEghMV1N", created - 1, created - 1}, // a copy's
		{"msg_short", created, 0},
		{"prt_1fb9925ed001", created, 0},
		{"msg_zzzzzzzzzzzz", created, 0},
		{"", created, 0},
	} {
		if got := messageIDTime(c.id, c.before); got != c.want {
			t.Errorf("messageIDTime(%q, %d) = %d, want %d", c.id, c.before, got, c.want)
		}
	}
}
