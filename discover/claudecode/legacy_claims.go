package claudecode

import (
	"context"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
)

// transcriptsOf lists the transcripts of a directory's project folders.
func (l *processScan) transcriptsOf(x *process, dir string) []discover.Entry {
	if x.home == "" || dir == "" {
		return nil
	}
	s := search{ctx: l.ctx}
	for _, project := range projectDirs(l.ctx, x.home, dir) {
		s.list(project)
	}
	l.warnings = append(l.warnings, s.warnings...)
	return s.found
}

// legacyClaims returns the claims of a registered process of a version before 2.1.129: its registry entry keeps the first
// session's ID when /clear begins another session and, before 2.1.85, when /resume changes to one. The history of typed
// commands tells whether the process has changed its session. If it does not, and another session was written later than
// the registered one, all of them get a weak claim.
func (l *processScan) legacyClaims(x *process) []discover.Claim {
	later, cleared := l.laterSessions(x)
	followsResume := x.entry.Kind != ""
	if followsResume && len(later) == 0 && len(cleared) == 0 {
		return []discover.Claim{l.registryClaim(x)}
	}
	steps, err := sessionSwitches(l.ctx, x.home, time.UnixMilli(x.entry.StartedAt))
	if err != nil {
		l.warnings = append(l.warnings, warning(historyPath(x.home), cause(err)))
	}
	last, known := followSwitches(x.entry.SessionID, steps, cleared)
	if known && last != x.entry.SessionID {
		path := findTranscript(l.ctx, x.home, x.entry.Cwd, last)
		return []discover.Claim{l.sessionClaim(x, last, path, discover.Strong, "history", "history.jsonl: the commands typed since session "+x.entry.SessionID)}
	}
	later = slices.DeleteFunc(later, func(t discover.Entry) bool { // begun in another process, or not the last one
		return known && slices.ContainsFunc(steps, func(s historyEntry) bool { return s.mayHaveBegun(cleared[t.ID]) })
	})
	c := l.registryClaim(x)
	if len(later) == 0 {
		return []discover.Claim{c}
	}
	c.Strength = discover.Weak
	claims := []discover.Claim{c}
	for _, t := range later {
		const later = "written later than the registered session, by a version whose entry may stay behind"
		claims = append(claims, l.sessionClaim(x, t.ID, t.Path, discover.Weak, "cwd", later))
	}
	return claims
}

// laterSessions returns the sessions that the process may have changed to: they were written later than its registered one.
// cleared has, for those that /clear began since the process registered, when they were created.
func (l *processScan) laterSessions(x *process) (later []discover.Entry, cleared map[string]time.Time) {
	cleared = map[string]time.Time{}
	all := l.transcriptsOf(x, x.entry.Cwd)
	var registeredWrite time.Time
	for _, t := range all {
		if t.ID == x.entry.SessionID {
			registeredWrite = t.Updated
		}
	}
	registered := time.UnixMilli(x.entry.StartedAt)
	for _, t := range all {
		if t.ID == x.entry.SessionID || t.Updated.Before(registered) {
			continue
		}
		head, _ := readHead(l.ctx, t.Path) // an unreadable transcript has no head
		fresh := head.Created.After(registered) && head.Command == "/clear"
		if fresh {
			cleared[t.ID] = head.Created
		}
		followsResume := x.entry.Kind != ""
		resumed := head.HasMessage && head.Created.Before(registered) && !followsResume
		if (fresh || resumed) && t.Updated.After(registeredWrite) && !l.isRegistered(t.Path) {
			later = append(later, t)
		}
	}
	return later, cleared
}

// readHead reads the beginning of a transcript.
func readHead(ctx context.Context, path string) (head transcript.Head, err error) {
	f, err := fsread.Open(ctx, path)
	if err != nil {
		return head, err
	}
	defer f.Close()
	err = head.Read(f)
	return head, err
}

// keepsFirstSession reports whether the registry entry of this version keeps the first session's ID after /clear: until
// 2.1.129 (2.1.126 does), and if the entry has no version.
func keepsFirstSession(s string) bool {
	v := native.ParseVersion(s)
	return !v.Known() || v.Before(native.Version{2, 1, 129})
}
