package model

import "testing"

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
