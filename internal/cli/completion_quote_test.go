package cli

import (
	"os/exec"
	"strings"
	"testing"
)

// Whatever is quoted means itself to bash, and to us when it is typed.
func FuzzBashQuoted(f *testing.F) {
	for _, seed := range []string{"", "x$(touch pw)y", "`a`", "a b  c", "'\"\\", "~!^{},;&|<>()*?[]#=:@%", "é日本", "-x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.IndexFunc(text, unprintable) >= 0 {
			return
		}
		for _, quote := range []struct {
			begin, end string
			open       byte
		}{{"", "", 0}, {"'", "'", '\''}, {`"`, `"`, '"'}} {
			typed := quote.begin + bashQuoted(text, quote.open)
			words, start, open := bashWords("agentctl " + typed)
			if len(words) != 2 || words[1] != text || start != 9 || open != quote.open {
				t.Errorf("%q in %q: typed %s, read %q from %d on, quote %q", text, quote.begin, typed, words, start, open)
			}
			out, err := exec.Command("bash", "-c", "printf '%s.' x"+typed+quote.end).Output()
			if err != nil || string(out) != "x"+text+"." {
				t.Errorf("%q in %q: bash reads %s as %q, %v", text, quote.begin, typed, out, err)
			}
		}
	})
}
