package storage

import (
	"regexp"
	"testing"
)

func TestIsUUIDPrefix(t *testing.T) {
	const lower, upper = "01a1fa5c-c285-7d91-bd0a-842a7d8b5424", "01A1FA5C-C285-7D91-BD0A-842A7D8B5424"
	for n := range len(lower) + 1 {
		if !IsUUIDPrefix(lower[:n], false) || !IsUUIDPrefix(lower[:n], true) || !IsUUIDPrefix(upper[:n], true) {
			t.Errorf("%d characters of an id are not taken for its beginning", n)
		}
	}
	if IsUUIDPrefix(upper, false) || IsUUIDPrefix(lower+"0", true) {
		t.Error("what is no id, or too long for one, is taken for its beginning")
	}
}

func FuzzIsUUIDPrefix(f *testing.F) {
	begins := map[bool]*regexp.Regexp{false: uuidBeginning(`[0-9a-f]`), true: uuidBeginning(`[0-9a-fA-F]`)}
	for _, s := range []string{"", "01a1fa5c-c285-7d91-bd0a-842a7d8b5424", "01A1fa5c", "01a1fa5c-c285-7d91-bd0a-842a7d8b542-", "g", "01a1fa5c0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for mixed, form := range begins {
			if got, want := IsUUIDPrefix(s, mixed), form.MatchString(s); got != want {
				t.Errorf("%q, mixed %v: %v", s, mixed, got)
			}
		}
	})
}

// uuidBeginning is the plain truth: each character may be the last one.
func uuidBeginning(digit string) *regexp.Regexp {
	form := `\z`
	for i := UUIDLen - 1; i >= 0; i-- {
		char := digit
		if i == 8 || i == 13 || i == 18 || i == 23 {
			char = "-"
		}
		form = `(?:\z|` + char + form + `)`
	}
	return regexp.MustCompile(`\A` + form)
}
