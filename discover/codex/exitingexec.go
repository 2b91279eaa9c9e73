package codex

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/codex/transcript"
	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

// minWriteRatio is how many bytes an exec has written at its end for each byte of its rollout, at the least: each line into the
// rollout, and what it is worth into databases, their journals and the log (SEEN 0.169: 4 times for a long turn, 11 for a short
// one; 0.98: 2.3 for a short one). One that has not begun a thread yet has written 60 kB, twice the shortest rollout, and 2.7 MB where it
// had to make the databases: with those, another mark tells ([evidence.history]).
const minWriteRatio = 2

// addEndedExec adds the threads that an exec may have run that runs none any more: at its end it lets go of rollout and lock some
// milliseconds before it is gone (SEEN 0.169), and until then the thread is not stopped, nor the process without one. They
// are those that were begun in its directory since it was, by an exec, and whose turn has ended; another exec may have run
// and left one of these, so that this is weak evidence.
func (c *claimBuilder) addEndedExec(s agentProcess, shown openFiles) {
	if s.role != exec || s.session != "" || s.claim.Home == "" || s.PreciseStart().IsZero() || !shown.historyDB && hasHistoryDB(c.ctx, s.claim.Home) {
		return
	}
	dir := discover.RealPath(s.newThreadDir(s.Process))
	since := homeScan{ctx: c.ctx, home: s.claim.Home}
	since.listCreated(s.PreciseStart().Add(-time.Minute), time.Now().Add(time.Minute), func(id string) bool {
		at, _ := transcript.ThreadCreated(id)
		return s.StartedBefore(at)
	})
	for _, e := range since.found {
		if !mayHaveWritten(s, e.Path) {
			continue
		}
		var r storedThread
		ok, err := r.read(e, discover.ReadOptions{}, fsread.NewBuffers(c.ctx))
		if err != nil || !ok || r.Source != "exec" || r.IsSubagent() || discover.RealPath(r.Dir) != dir || !isOver(r.Turn) {
			continue
		}
		claim := s.claim
		claim.Session, claim.Path, claim.Strength = r.ID, r.Path, discover.Weak
		claim.Kind, claim.Detail = "cwd", "it runs no thread any more, and this one was begun in its directory since it was, and has ended its turn"
		claim.Source = s.sourceName()
		c.claims = append(c.claims, claim)
	}
}

// hasHistoryDB reports whether who runs a thread in this home has the database of what threads said open.
func hasHistoryDB(ctx context.Context, home string) bool {
	names, _ := fsread.ReadDir(ctx, home)
	return slices.ContainsFunc(names, func(n fsread.DirEntry) bool { return isHistoryDB(n.Name()) })
}

// mayHaveWritten reports whether the process can have written the rollout, as far as its system counts what a process writes: one that
// has just started cannot, when another exec has just ended its thread in the same directory.
func mayHaveWritten(s agentProcess, rollout string) bool {
	n, err := s.BytesWritten()
	if errors.Is(err, proc.ErrUnsupported) {
		return true
	}
	st, statErr := os.Stat(rollout)
	return err == nil && statErr == nil && n >= minWriteRatio*st.Size()
}

func isOver(t discover.Turn) bool {
	switch t.State {
	case discover.TurnDone, discover.TurnInterrupted, discover.TurnFailed:
		return true
	}
	return false
}
