package output

import (
	"cmp"
	"strings"

	"agentctl/discover"
)

// WaitingOn is the JSON object of the tool call that a waiting session needs the user for.
type WaitingOn struct {
	Tool      string   `json:"tool"`
	Brief     string   `json:"brief,omitempty"`
	Path      string   `json:"path,omitempty"`
	Questions []string `json:"questions,omitempty"`
}

// WaitingOnText formats the call on one line, such as "Bash: rm -rf build", safe for a terminal; "" for nil.
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
