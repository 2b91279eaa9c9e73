package output

import (
	"cmp"
	"fmt"
	"strings"

	"agentctl/discover"
)

// WaitingOn is the JSON object of the tool call that a waiting session needs the user for.
type WaitingOn struct {
	Tool      string   `json:"tool"`
	Brief     string   `json:"brief,omitempty"`
	Path      string   `json:"path,omitempty"`
	Questions []string `json:"questions,omitempty"`
	Diff      *Diff    `json:"diff,omitempty"`
}

// Diff is the JSON object of the lines that a call adds and removes.
type Diff struct {
	Added   int  `json:"added"`
	Removed *int `json:"removed,omitempty"`
}

// newWaitingOn converts the call to its JSON object.
func newWaitingOn(on *discover.WaitingOn) *WaitingOn {
	if on == nil {
		return nil
	}
	return &WaitingOn{on.Tool, on.Brief, on.Path, on.Questions, (*Diff)(on.Diff)}
}

// WaitingOnText formats the call that a session waits on, such as "Bash: rm -rf build" or "Edit: main.go +3 -1", on one line, safe for a
// terminal; "" if there is none. A file below the session's directory is named from there.
func WaitingOnText(s *Session) string {
	on := s.WaitingOn
	if on == nil {
		return ""
	}
	brief := on.Brief
	if len(on.Questions) > 0 {
		brief = strings.Join(on.Questions, " ")
	}
	if below, ok := strings.CutPrefix(brief, strings.TrimSuffix(s.CWD, "/")+"/"); ok && brief == on.Path && s.CWD != "" {
		brief = below
	}
	text := cmp.Or(Sanitize(on.Tool), "-")
	if brief = Sanitize(brief); brief != "" {
		text += ": " + brief
	}
	return text + diffText(on.Diff)
}

// diffText formats the numbers of lines that are known.
func diffText(d *Diff) string {
	switch {
	case d == nil:
		return ""
	case d.Removed == nil:
		return fmt.Sprintf(" +%d", d.Added)
	}
	return fmt.Sprintf(" +%d -%d", d.Added, *d.Removed)
}
