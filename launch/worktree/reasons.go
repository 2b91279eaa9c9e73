package worktree

import "strings"

// ReasonCode is a reason in one word.
type ReasonCode string

// Why nothing was done. What is marked so, force overrides.
const (
	ReasonMain       ReasonCode = "main"
	ReasonLocked     ReasonCode = "locked"
	ReasonCreating   ReasonCode = "making" // git is at work on it
	ReasonNested     ReasonCode = "nested" // another worktree lies in it
	ReasonSession    ReasonCode = "session"
	ReasonFlock      ReasonCode = "held"       // by another process, as during a launch
	ReasonDeclared   ReasonCode = "declared"   // somebody has declared a lock
	ReasonDirty      ReasonCode = "dirty"      // forced
	ReasonUnmerged   ReasonCode = "unmerged"   // forced
	ReasonSubmodules ReasonCode = "submodules" // forced
	ReasonBroken     ReasonCode = "broken"     // forced
)

// Reason is why a worktree was left as it is.
type Reason struct {
	Code ReasonCode
	Text string // for people
}

// ForceOverrides reports whether force overrides it.
func (r Reason) ForceOverrides() bool {
	switch r.Code {
	case ReasonDirty, ReasonUnmerged, ReasonSubmodules, ReasonBroken:
		return true
	}
	return false
}

// RefusedError: nothing was done, for what would be lost.
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

// refusal is a [RefusedError] unless there are no reasons.
func refusal(path string, reasons []Reason) error {
	if len(reasons) == 0 {
		return nil
	}
	return &RefusedError{path, reasons}
}

// blockingReasons are the reasons against removing w that nothing overrides.
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
