package discover

import (
	"slices"
	"strings"
)

// BriefLimit is the most characters (runes) of each text of a [WaitingOn] but its path.
const BriefLimit = 200

// questionsLimit is the most questions that a [WaitingOn] keeps. Agents ask four at the most.
const questionsLimit = 16

// WaitingOn is the tool call that a waiting turn needs the user for. Its texts are raw: clean them before they go to a
// terminal.
type WaitingOn struct {
	// Tool is the tool's name, as the agent records it.
	Tool string
	// Brief tells people what the call does: the command, the file, the first question. A longer one ends in "…".
	Brief string
	// Path is the file that the call is about, as the agent names it; "" where it is about none, or several.
	Path string
	// Questions are those that the call asks, in their order.
	Questions []string
	// Diff counts the lines that the call changes; nil where it changes none, or does not say how many.
	Diff *Diff
}

// Diff is the number of lines that a call adds and removes.
type Diff struct {
	Added int
	// Removed is nil where the call replaces or deletes a file: what that contains is not in the call.
	Removed *int
}

// NewDiff returns the counts of lines; nil if none is known. complete: removed counts all that are removed.
func NewDiff(added, removed int, complete bool) *Diff {
	switch {
	case complete:
		return &Diff{Added: added, Removed: &removed}
	case added > 0:
		return &Diff{Added: added}
	}
	return nil
}

// equal reports whether two calls change as many lines.
func (d *Diff) equal(e *Diff) bool {
	if d == nil || e == nil {
		return d == e
	}
	same := d.Removed == e.Removed || d.Removed != nil && e.Removed != nil && *d.Removed == *e.Removed
	return same && d.Added == e.Added
}

// NewWaitingOn bounds its texts. A path that no system takes is left out, since a part of it names another file.
func NewWaitingOn(tool, brief, path string, questions []string) *WaitingOn {
	w := &WaitingOn{Tool: truncateBrief(tool), Brief: truncateBrief(brief)}
	if len(path) <= PathLimit {
		w.Path = strings.Clone(path)
	}
	for _, q := range questions[:min(len(questions), questionsLimit)] {
		w.Questions = append(w.Questions, truncateBrief(q))
	}
	return w
}

// truncateBrief returns a copy of at most [BriefLimit] characters of a text.
func truncateBrief(text string) string {
	if len(Truncate(text, BriefLimit)) < len(text) {
		return Truncate(text, BriefLimit-1) + "…"
	}
	return strings.Clone(text)
}

// Equal reports whether two turns wait for the same call.
func (w *WaitingOn) Equal(o *WaitingOn) bool {
	if w == nil || o == nil {
		return w == o
	}
	return w.Tool == o.Tool && w.Brief == o.Brief && w.Path == o.Path && slices.Equal(w.Questions, o.Questions) && w.Diff.equal(o.Diff)
}
