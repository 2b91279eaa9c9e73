package claudecode

import (
	"context"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// transcripts lists those that belong to a directory.
func (l *look) transcripts(x *process, dir string) []discover.Entry {
	if x.home == "" || dir == "" {
		return nil
	}
	s := search{ctx: l.ctx}
	for _, project := range projectsOf(l.ctx, x.home, dir) {
		s.list(project)
	}
	l.warnings = append(l.warnings, s.warnings...)
	return s.found
}

// early judges the registry entry of a version before 2.1.129, which keeps the first session's id when /clear begins
// another, and before 2.1.85 when /resume changes to one. The history of typed commands tells whether the process has
// moved on. Where it does not tell, and another session was written later than the registered one, nobody knows.
func (l *look) early(x *process) []discover.Claim {
	later, cleared := l.others(x)
	followsResume := x.entry.Kind != ""
	if followsResume && len(later) == 0 && len(cleared) == 0 {
		return []discover.Claim{l.byRegistry(x)}
	}
	steps, err := switches(l.ctx, x.home, time.UnixMilli(x.entry.StartedAt))
	if err != nil {
		l.warnings = append(l.warnings, warning(historyPath(x.home), cause(err)))
	}
	last, known := follow(x.entry.SessionID, steps, cleared)
	if known && last != x.entry.SessionID {
		path := locate(l.ctx, x.home, x.entry.Cwd, last)
		return []discover.Claim{l.trace(x, last, path, discover.Strong, "history", "history.jsonl: the commands typed since session "+x.entry.SessionID)}
	}
	later = slices.DeleteFunc(later, func(t discover.Entry) bool { // begun in another process, or left again
		return known && slices.ContainsFunc(steps, func(s typed) bool { return s.began(cleared[t.ID]) })
	})
	c := l.byRegistry(x)
	if len(later) == 0 {
		return []discover.Claim{c}
	}
	c.Strength = discover.Weak
	claims := []discover.Claim{c}
	for _, t := range later {
		const later = "written later than the registered session, by a version whose entry may stay behind"
		claims = append(claims, l.trace(x, t.ID, t.Path, discover.Weak, "cwd", later))
	}
	return claims
}

// others returns the sessions that the process may have moved on to, since they were written later than its
// registered one, and when those begun by /clear since it registered were created.
func (l *look) others(x *process) (later []discover.Entry, cleared map[string]time.Time) {
	cleared = map[string]time.Time{}
	all := l.transcripts(x, x.entry.Cwd)
	var own time.Time
	for _, t := range all {
		if t.ID == x.entry.SessionID {
			own = t.Updated
		}
	}
	registered := time.UnixMilli(x.entry.StartedAt)
	for _, t := range all {
		if t.ID == x.entry.SessionID || t.Updated.Before(registered) {
			continue
		}
		head, _ := readHead(l.ctx, t.Path) // what cannot be read has none
		fresh := head.created.After(registered) && head.command == "/clear"
		if fresh {
			cleared[t.ID] = head.created
		}
		followsResume := x.entry.Kind != ""
		resumed := head.message && head.created.Before(registered) && !followsResume
		if (fresh || resumed) && t.Updated.After(own) && !l.isRegistered(t.Path) {
			later = append(later, t)
		}
	}
	return later, cleared
}

// readHead reads the beginning of a transcript, as far as it goes.
func readHead(ctx context.Context, path string) (head headScan, err error) {
	f, err := native.Open(ctx, path)
	if err != nil {
		return head, err
	}
	defer f.Close()
	err = head.read(f)
	return head, err
}
