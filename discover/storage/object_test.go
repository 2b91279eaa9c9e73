package storage

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestObjectMembers(t *testing.T) {
	line := []byte(` {"a" : "x\"y" , "b":{"c":[1,{"d":"}"}],"e":-12},"n":123,"t":true,"z":null,"l":["p","q\\"]} `)
	got := map[string]string{}
	for key, value := range Object(line).Members() {
		got[string(key)] = string(value.Raw())
	}
	want := map[string]string{
		"a": `"x\"y"`, "b": `{"c":[1,{"d":"}"}],"e":-12}`, "n": "123", "t": "true", "z": "null", "l": `["p","q\\"]`,
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s: got %s, want %s", key, got[key], value)
		}
	}
	for key, value := range Object(line).Members() {
		switch string(key) {
		case "a":
			if got := value.Text(0); got != `x"y` {
				t.Errorf("text %q", got)
			}
		case "n":
			if value.Int() != 123 {
				t.Errorf("int %d", value.Int())
			}
		case "l":
			var all []string
			for e := range value.Elements() {
				all = append(all, e.Text(0))
			}
			if strings.Join(all, "|") != `p|q\` {
				t.Errorf("elements %q", all)
			}
		}
	}
}

func TestMalformedObjects(t *testing.T) {
	for _, s := range []string{
		"", "null", "[1]", `"x"`, "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":"`, `{1:2}`, `{"a" 1}`, `}`, "\x00\xff",
		strings.Repeat(`{"a":`, 100000), strings.Repeat("[", 100000), `{"a":` + strings.Repeat("[", 100000),
	} {
		n := 0
		for _, value := range Object(s).Members() {
			_, _, _ = value.Raw(), value.Text(5), value.Int()
			for range value.Elements() {
				n++
			}
			n++
		}
		if n > 2 {
			t.Errorf("%.20q: %d members", s, n)
		}
	}
}

func TestObjectComplete(t *testing.T) {
	whole := `{"a":1,"p":{"q":"r","s":[1,{}]},"z":"x"}`
	for _, s := range []string{whole, " {} ", whole + "\n"} {
		if !Object(s).Complete() {
			t.Errorf("%s: not complete", s)
		}
	}
	for i := range whole {
		if Object(whole[:i]).Complete() {
			t.Errorf("%s: complete", whole[:i])
		}
		if i > 0 && Object(whole[:i]+whole).Complete() {
			t.Errorf("%s: complete", whole[:i]+whole)
		}
	}
	if Object(whole + whole).Complete() {
		t.Error("two objects are one")
	}
}

func TestDamaged(t *testing.T) {
	for line, want := range map[string]bool{
		"": false, " \t\r": false, "{}": false, `{"a":1} `: false, "[1]": false, "null": false,
		`{"a":`: true, `{"a":1}{"b":2}`: true, "\x00\x00": true, "nonsense": true, strings.Repeat("[", 100000): true,
		strings.Repeat(`{"a":`, 100000) + "1" + strings.Repeat("}", 100000): false,
	} {
		if Damaged([]byte(line)) != want {
			t.Errorf("%.20q: %v", line, !want)
		}
	}
}

func TestTextLimit(t *testing.T) {
	for text, want := range map[string]string{
		`"abcdef"`: "abc", `"äöüß"`: "äöü", `"\u00e4\n\"x"`: "ä\n\"", `"\ud83d\ude00ab"`: "😀ab", `"\ud83dxy"`: "\ufffdxy",
		`"ab"`: "ab", `""`: "", `"ab`: "", `12`: "", "\"\xffab\"": "\ufffdab",
	} {
		if got := Value(text).Text(3); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// FuzzObject: for an object that encoding/json accepts, the members have the same values in the same order; for anything
// else, no member is returned that is not in the bytes.
func FuzzObject(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":{"c":"d"},"e":[1,2,"x"]}`, `{"a":"\u00e4\ud83d\ude00"}`, `{"a\"b":null}`, `{}`, ` { } `, `{"a":"` + "\xff" + `"}`, `{"a":"x\\","b":"x\ny"}`,
	} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, limit int) {
		var want map[string]json.RawMessage
		valid := json.Unmarshal(b, &want) == nil && want != nil
		seen := map[string][]byte{}
		for key, value := range Object(b).Members() {
			seen[unquote(key, 0)] = value.Raw()
			text := value.Text(limit & 0xff)
			if !utf8.ValidString(text) || limit&0xff > 0 && utf8.RuneCountInString(text) > limit&0xff {
				t.Fatalf("Text(%d) = %q", limit&0xff, text)
			}
			var s string
			if valid && json.Unmarshal(value.Raw(), &s) == nil && len(value) > 0 && value[0] == '"' && value.Text(0) != s {
				t.Fatalf("text %q, want %q", value.Text(0), s)
			}
		}
		if !valid {
			return
		}
		if !Object(b).Complete() {
			t.Fatalf("%q is not complete", b)
		}
		if len(seen) != len(want) {
			t.Fatalf("%d members, want %d: %q", len(seen), len(want), b)
		}
		for key, raw := range want {
			if string(seen[key]) != strings.TrimSpace(string(raw)) {
				t.Fatalf("%q: %q, want %q", key, seen[key], raw)
			}
		}
	})
}

// FuzzString: a string ends where a byte-by-byte scan says.
func FuzzString(f *testing.F) {
	for _, s := range []string{
		``, `"`, `a"b`, `\\"`, `\\\"`, `1234567\"`, `12345678\\"`, "1234567\xff", "\x80\\", strings.Repeat("x", 62) + `\"y"`, strings.Repeat(`\"`, 70) + `"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append([]byte{'"'}, b...)
		want := -1
		for i := 1; i < len(b) && want < 0; i++ {
			switch {
			case b[i] == '"':
				want = i + 1
			case b[i] == '\\':
				i++
			}
		}
		if got := stringEnd(b); got != want {
			t.Errorf("%q ends at %d, want %d", b, got, want)
		}
	})
}

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
