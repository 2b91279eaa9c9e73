package directive

import (
	"reflect"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Step
	}{
		{"one", "please [[text hello you]] now", []Step{{"text", "hello you"}}},
		{"steps", "[[shell sleep 30; true;; text done]]", []Step{{"shell", "sleep 30; true"}, {"text", "done"}}},
		{"nested", "[[agent sub [[shell a;; text b]];; text c]]", []Step{{"agent", "sub [[shell a;; text b]]"}, {"text", "c"}}},
		{"shell test", "[[shell [[ -f x ]] && y]]", []Step{{"shell", "[[ -f x ]] && y"}}},
		{"lines", "[[shell a\nb]]", []Step{{"shell", "a\nb"}}},
		{"bare", "[[hang]]", []Step{{"hang", ""}}},
		{"open", "[[text hello", nil},
		{"none", "hello", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found := Parse(tt.text)
			if found != (tt.want != nil) || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v; want %v", got, found, tt.want)
			}
		})
	}
}

func TestParsePause(t *testing.T) {
	for arg, want := range map[string]Pause{"": {}, "30s": {Time: 30 * time.Second}, "@go late": {Gate: "go"}} {
		if got, _, err := ParsePause(arg); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", arg, got, err, want)
		}
	}
	for _, arg := range []string{"soon", "-1s", "30"} {
		if _, _, err := ParsePause(arg); err == nil {
			t.Errorf("%q was accepted", arg)
		}
	}
}
