package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLoadPrices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.toml")
	for _, tc := range []struct{ text, wrong string }{
		{"[\"gpt-5.2\"]\nin = 1.25\nout = 10\ncache_read = 0\n", ""},
		{"", `: there is no model; want a table for each, such as ["MODEL"], with in and out`},
		{"[m]\nin = \"1\"\n", `:2:7: m.in: "1" is not a number of USD`},
		{"[m]\nin = -1\n", `:2:6: m.in: -1 is not a price`},
		{"[m]\nin = nan\n", `:2:6: m.in: NaN is not a price`},
		{"[m]\ninput = 1\n", `:2:9: m.input: no such key; valid keys: cache_read, cache_write, in, out`},
		{"m = 1\n", `: m: want a table, as in ["m"]`},
		{"[m\n", `:2:3: expected`},
	} {
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := LoadPrices(path, nil)
		if tc.wrong == "" {
			if p := got["gpt-5.2"]; err != nil || *p.In != 1.25 || *p.Out != 10 || *p.CacheRead != 0 || p.CacheWrite != nil {
				t.Errorf("%+v, %v", got, err)
			}
			continue
		}
		if err == nil || len(err.Error()) < len(path+tc.wrong) || err.Error()[:len(path+tc.wrong)] != path+tc.wrong {
			t.Errorf("%q: %v, want %s", tc.text, err, tc.wrong)
		}
	}
	if _, _, err := LoadPrices(path+"x", nil); err == nil {
		t.Error("a missing file is no error")
	}
}
