package worktree

import "strings"

// ReasonCode is the kind of a reason.
type ReasonCode string

// Why a worktree is not removed. Force overrides those marked "forced".
const (
	ReasonMain       ReasonCode = "main"
	ReasonLocked     ReasonCode = "locked"
	ReasonCreating   ReasonCode = "making" // git is creating it
	ReasonNested     ReasonCode = "nested" // another worktree is in it
	ReasonSession    ReasonCode = "session"
	ReasonFlock      ReasonCode = "held"       // by another process, such as a launch
	ReasonDeclared   ReasonCode = "declared"   // there is a declared lock
	ReasonDirty      ReasonCode = "dirty"      // forced
	ReasonUnmerged   ReasonCode = "unmerged"   // forced
	ReasonSubmodules ReasonCode = "submodules" // forced
	ReasonBroken     ReasonCode = "broken"     // forced
)

// Reason is why a worktree was not removed.
type Reason struct {
	Code ReasonCode
	Text string // for messages
}

// ForceOverrides reports whether force overrides the reason.
func (r Reason) ForceOverrides() bool {
	switch r.Code {
	case ReasonDirty, ReasonUnmerged, ReasonSubmodules, ReasonBroken:
		return true
	}
	return false
}

// RefusedError says why a worktree or branch was not removed. Nothing was changed.
type RefusedError struct {
	Path    string
	Reasons []Reason
}

func (e *RefusedError) Error() string {
	var texts []string
	for _, r := range e.Reasons {
		texts = append(texts, r.Text)
	}
	return e.Path + ": " + strings.Join(texts, "; ")
}

// refusal returns a [*RefusedError], nil if there are no reasons.
func refusal(path string, reasons []Reason) error {
	if len(reasons) == 0 {
		return nil
	}
	return &RefusedError{path, reasons}
}

// blockingReasons returns the reasons against removing w that force does not override.
func blockingReasons(w Worktree, all []Worktree) []Reason {
	var out []Reason
	if w.Main {
		out = append(out, Reason{ReasonMain, "it is the repository's main worktree"})
	}
	if w.Locked && !w.Incomplete() {
		text := "it is locked"
		if w.LockReason != "" {
			text += ": " + w.LockReason
		}
		out = append(out, Reason{ReasonLocked, text})
	}
	for _, other := range all {
		if strings.HasPrefix(other.Path, w.Path+"/") {
			out = append(out, Reason{ReasonNested, "another worktree lies in it: " + other.Path})
		}
	}
	return out
}
