package output

import (
	"cmp"
	"strings"

	"agentctl/discover"
)

// WaitingOn is the call of a tool that a waiting session needs the person for.
type WaitingOn struct {
	Tool      string   `json:"tool"`
	Brief     string   `json:"brief,omitempty"`
	Path      string   `json:"path,omitempty"`
	Questions []string `json:"questions,omitempty"`
}

// WaitingOnText names the call on one line, as in "Bash: rm -rf build", safe for a terminal; "" of nil.
func WaitingOnText(on *discover.WaitingOn) string {
	if on == nil {
		return ""
	}
	brief := Sanitize(on.Brief)
	if len(on.Questions) > 0 {
		brief = Sanitize(strings.Join(on.Questions, " "))
	}
	tool := cmp.Or(Sanitize(on.Tool), "-")
	if brief == "" {
		return tool
	}
	return tool + ": " + brief
}
