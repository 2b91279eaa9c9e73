package claudecode

import (
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// transcript is a file of a project folder.
type transcript struct {
	id, path string
	modified time.Time
}

// transcripts lists those that belong to a directory.
func (l *look) transcripts(x *process, dir string) (out []transcript) {
	if x.home == "" || dir == "" {
		return nil
	}
	var s search
	for _, project := range projectsOf(x.home, dir) {
		s.list(project)
	}
	l.warnings = append(l.warnings, s.warnings...)
	for _, e := range s.found {
		out = append(out, transcript{e.ID, e.Path, e.Updated})
	}
	return out
}

// early judges the registry entry of a version before 2.1.129, which keeps the first session's id when /clear begins
// another, and before 2.1.85 when /resume changes to one. If such a session was written later than the registered
// one, and no other process in the directory can have done it, it is the process's; if one can, nobody knows.
func (l *look) early(x *process) []discover.Claim {
	var own time.Time
	var later []transcript
	surely := !l.shared(x)
	all := l.transcripts(x, x.entry.Cwd)
	for _, t := range all {
		if t.id == x.entry.SessionID {
			own = t.modified
		}
	}
	for _, t := range all {
		if t.id == x.entry.SessionID || !t.modified.After(own) || l.isRegistered(t.path) {
			continue
		}
		cleared, resumed := x.mayHave(t)
		if cleared || resumed {
			later = append(later, t)
			surely = surely && cleared
		}
	}
	if len(later) == 0 {
		return []discover.Claim{l.byRegistry(x)}
	}
	if surely {
		t := newest(later)
		c := l.trace(x, t.id, t.path, "clear", "begun by /clear since the process registered as "+x.entry.SessionID)
		c.Strength = discover.Strong
		return []discover.Claim{c}
	}
	c := l.byRegistry(x)
	c.Strength = discover.Weak
	claims := []discover.Claim{c}
	for _, t := range later {
		c := l.trace(x, t.id, t.path, "cwd", "written later than the registered session, in a version that may not follow")
		c.Strength = discover.Weak
		claims = append(claims, c)
	}
	return claims
}

// mayHave reports whether the process may have begun the session with /clear, or (where it would not say so) have
// changed to it with /resume.
func (x *process) mayHave(t transcript) (cleared, resumed bool) {
	f, err := native.Open(t.path)
	if err != nil {
		return false, false
	}
	defer f.Close()
	var head headScan
	if err := head.read(f); err != nil || !head.message {
		return false, false
	}
	registered := time.UnixMilli(x.entry.StartedAt)
	if head.created.After(registered) {
		return head.command == "/clear", false
	}
	followsResume := x.entry.Kind != ""
	return false, !followsResume && t.modified.After(registered)
}

// shared reports whether another Claude Code process that could have written there works in the same directory.
func (l *look) shared(x *process) bool {
	for _, y := range l.processes {
		if y != x && y.dir == x.dir && y.home == x.home && staysBehind(y.entry.Version) {
			return true
		}
	}
	return false
}

func newest(list []transcript) transcript {
	best := list[0]
	for _, t := range list[1:] {
		if t.modified.After(best.modified) {
			best = t
		}
	}
	return best
}
