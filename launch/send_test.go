package launch

import (
	"strings"
	"testing"
)

func TestCheckMessage(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc\r\n\n":                "",
		"日本語 \U0001f600 \u202e \ufffd": "",
		strings.Repeat("x", 1<<20):     "",
		"":                             "empty",
		" \n\t":                        "empty",
		strings.Repeat("x", 1<<20+1):   "1048577 bytes",
		"a\x1b[2J":                     "control character U+001B at offset 1",
		"a\r\nb":                       "control character U+000D at offset 1",
		"ab\x00":                       "control character U+0000 at offset 2",
		"\x7f":                         "U+007F",
		"\u009b":                       "U+009B",
		"a\xff":                        "not UTF-8 text at offset 1",
	} {
		got, err := CheckMessage(text)
		switch {
		case want == "" && (err != nil || got != strings.TrimRight(text, "\r\n")):
			t.Errorf("%.20q: %.20q, %v", text, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
