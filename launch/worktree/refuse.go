package worktree

import "strings"

// Why is a reason in one word.
type Why string

// Why nothing was done. What is marked so, force overrides.
const (
	IsMain     Why = "main"
	IsLocked   Why = "locked"
	IsMaking   Why = "making" // git is at work on it
	HasNested  Why = "nested" // another worktree lies in it
	HasSession Why = "session"
	IsHeld     Why = "held"       // by another process, as during a launch
	IsDeclared Why = "declared"   // somebody has declared a lock
	IsDirty    Why = "dirty"      // forced
	IsUnmerged Why = "unmerged"   // forced
	HasModules Why = "submodules" // forced
	IsBroken   Why = "broken"     // forced
)

// Reason is why a worktree was left as it is.
type Reason struct {
	Why  Why
	Text string // for people
}

// Forced reports whether force overrides it.
func (r Reason) Forced() bool {
	switch r.Why {
	case IsDirty, IsUnmerged, HasModules, IsBroken:
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

// refuse is a [RefusedError] unless there are no reasons.
func refuse(path string, reasons []Reason) error {
	if len(reasons) == 0 {
		return nil
	}
	return &RefusedError{path, reasons}
}

// fixed are the reasons against removing w that nothing overrides.
func fixed(w Worktree, all []Worktree) []Reason {
	var out []Reason
	if w.Main {
		out = append(out, Reason{IsMain, "it is the repository's main worktree"})
	}
	if w.Locked && !w.HalfMade() {
		text := "it is locked"
		if w.LockReason != "" {
			text += ": " + w.LockReason
		}
		out = append(out, Reason{IsLocked, text})
	}
	for _, other := range all {
		if strings.HasPrefix(other.Path, w.Path+"/") {
			out = append(out, Reason{HasNested, "another worktree lies in it: " + other.Path})
		}
	}
	return out
}
