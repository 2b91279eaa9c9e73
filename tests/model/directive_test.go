package model

import (
	"reflect"
	"testing"
	"time"
)

func TestParseDirective(t *testing.T) {
	tests := []struct {
		name, text string
		want       []step
	}{
		{"one", "please [[text hello you]] now", []step{{"text", "hello you"}}},
		{"steps", "[[shell sleep 30; true;; text done]]", []step{{"shell", "sleep 30; true"}, {"text", "done"}}},
		{"nested", "[[agent sub [[shell a;; text b]];; text c]]", []step{{"agent", "sub [[shell a;; text b]]"}, {"text", "c"}}},
		{"shell test", "[[shell [[ -f x ]] && y]]", []step{{"shell", "[[ -f x ]] && y"}}},
		{"lines", "[[shell a\nb]]", []step{{"shell", "a\nb"}}},
		{"bare", "[[hang]]", []step{{"hang", ""}}},
		{"open", "[[text hello", nil},
		{"none", "hello", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found := parseDirective(tt.text)
			if found != (tt.want != nil) || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v; want %v", got, found, tt.want)
			}
		})
	}
}

func TestParsePause(t *testing.T) {
	for arg, want := range map[string]pause{"": {}, "30s": {time: 30 * time.Second}, "@go late": {gate: "go"}} {
		if got, _, err := parsePause(arg); err != nil || *got != want {
			t.Errorf("%q: got %v, %v; want %v", arg, got, err, want)
		}
	}
	for _, arg := range []string{"soon", "-1s", "30"} {
		if _, _, err := parsePause(arg); err == nil {
			t.Errorf("%q was accepted", arg)
		}
	}
}

func TestNewest(t *testing.T) {
	tests := []struct {
		name   string
		items  []item
		prompt string
		done   int
	}{
		{"first call", []item{{text: "a"}}, "a", 0},
		{"after two tools", []item{{text: "a"}, {result: true}, {result: true}}, "a", 2},
		{"a new turn starts over", []item{{text: "a"}, {result: true}, {text: "b"}}, "b", 0},
		{"what agents add is no prompt", []item{
			{text: "# AGENTS.md instructions"},
			{text: "<environment_context>x</environment_context>"},
			{text: "a<system-reminder>b [[text no]]</system-reminder>"},
			{result: true},
			{text: "<system-reminder>b</system-reminder>"},
			{text: "[Request interrupted by user]"},
		}, "a", 1},
		{"polls are no steps", []item{{text: "a"}, {result: true}, {result: true, poll: true}}, "a", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			prompt, done, _ := turn{items: tt.items}.newest()
			if prompt != tt.prompt || done != tt.done {
				t.Errorf("got %q after %d steps, want %q after %d", prompt, done, tt.prompt, tt.done)
			}
		})
	}
}
