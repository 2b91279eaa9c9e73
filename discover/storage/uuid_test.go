package storage

import (
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
