package claudecode

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRecordsOfRealStores reads every captured store whole and compares with the golden records.
func TestRecordsOfRealStores(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(fixtures, "[0-9]*"))
	must(t, err)
	for _, folder := range folders {
		name := filepath.Base(folder)
		t.Run(name, func(t *testing.T) {
			dir := home(t, name)
			got, warned := records(t, dir, discover.EntryFilter{Subagents: true}, discover.ReadOptions{Full: true})
			if len(warned) > 0 {
				t.Errorf("warnings: %v", warned)
			}
			slices.SortFunc(got, func(a, b discover.Record) int { return cmp.Compare(a.Path, b.Path) })
			for i := range got {
				got[i].Path = strings.TrimPrefix(got[i].Path, dir+"/")
				got[i].Home = strings.TrimPrefix(got[i].Home, dir)
			}
			golden(t, filepath.Join("testdata/golden", name+".json"), got)
		})
	}
}

// TestQuickReadAgreesWithWhole: reading only parts of a transcript gives the same record as reading it whole, except for a
// title in the middle of a long transcript.
func TestQuickReadAgreesWithWhole(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(fixtures, "[0-9]*"))
	must(t, err)
	for _, folder := range folders {
		dir := home(t, filepath.Base(folder))
		quick, _ := records(t, dir, discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
		whole, _ := records(t, dir, discover.EntryFilter{Subagents: true}, discover.ReadOptions{Full: true})
		byKey := map[discover.Key]discover.Record{}
		for _, r := range whole {
			r.Tokens, r.Quotas = nil, nil
			if r.Meta.Get("costWithOrigin") != nil {
				r.ForkedFrom = "" // which the answers tell
			}
			r.Meta = slices.DeleteFunc(r.Meta, func(f discover.Fact) bool {
				return f.Name == "turns" || f.Name == modeMeta || f.Name == dirMeta
			})
			byKey[r.Key()] = r
		}
		for _, r := range quick {
			if info, err := os.Stat(r.Path); err == nil && info.Size() > 64<<10 {
				r.Title = byKey[r.Key()].Title
			}
			if a, b := asJSON(t, r), asJSON(t, byKey[r.Key()]); a != b {
				t.Errorf("%s:\nquick %s\nwhole %s", r.Path, a, b)
			}
		}
		if len(quick) != len(whole) {
			t.Errorf("%s: %d records read quickly, %d whole", folder, len(quick), len(whole))
		}
	}
}

func golden(t *testing.T, path string, got any) {
	t.Helper()
	goldenText(t, path, asJSON(t, got))
}

func goldenText(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if text != string(want) {
		t.Errorf("%s differs; got:\n%s", path, text)
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	must(t, err)
	return string(raw) + "\n"
}
