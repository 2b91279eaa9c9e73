package codex

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/codex/transcript"
	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

// minWriteRatio is the least number of bytes that an exec has written at its end for each byte of its rollout: each line goes into the
// rollout, into databases and their journals, and into the log (SEEN 0.169: 4 for a long turn, 11 for a short one; 0.98: 2.3 for a
// short one). An exec that has not begun its thread has written 60 kB, twice the shortest rollout, or 2.7 MB where it had to create
// the databases; where there are databases, [openFiles.historyDB] tells the two cases apart.
const minWriteRatio = 2

// addEndedExec adds claims for the threads that an exec may have run which has no thread's files open any more. At its end an exec
// closes rollout and lock some milliseconds before it exits (SEEN 0.169). Until it exits, the thread is not stopped. Candidates are
// the threads of an exec in the same directory that began after the process did and whose turn has ended. Another exec may have run
// one of these, so the evidence is weak.
func (c *claimBuilder) addEndedExec(s agentProcess, files openFiles) {
	if s.role != exec || s.session != "" || s.claim.Home == "" || s.PreciseStart().IsZero() || !files.historyDB && hasHistoryDB(c.ctx, s.claim.Home) {
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
		ok, err := r.read(c.ctx, e, discover.ReadOptions{})
		if err != nil || !ok || r.Source != "exec" || r.IsSubagent() || discover.RealPath(r.Dir) != dir || !r.Turn.Ended() {
			continue
		}
		claim := s.claim
		claim.Session, claim.Path, claim.Strength = r.ID, r.Path, discover.Weak
		claim.Kind, claim.Detail = "cwd", "it has no thread open any more, and this thread began in its directory after the process did and has ended its turn"
		claim.Source = s.sourceName()
		c.claims = append(c.claims, claim)
	}
}

// hasHistoryDB reports whether a process that runs a thread in this home has the database of the threads' messages open.
func hasHistoryDB(ctx context.Context, home string) bool {
	names, _ := fsread.ReadDir(ctx, home)
	return slices.ContainsFunc(names, func(n fs.DirEntry) bool { return isHistoryDB(n.Name()) })
}

// mayHaveWritten reports whether the process has written enough bytes to have written the rollout, as far as the system counts them.
// A process that has just started has not, when another exec has just ended its thread in the same directory.
func mayHaveWritten(s agentProcess, rollout string) bool {
	n, err := s.BytesWritten()
	if errors.Is(err, proc.ErrUnsupported) {
		return true
	}
	st, statErr := os.Stat(rollout)
	return err == nil && statErr == nil && n >= minWriteRatio*st.Size()
}
