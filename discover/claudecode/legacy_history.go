package claudecode

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// historyEntry is one line of history.jsonl: what the user typed into a TUI, and the session of the TUI at that time (SEEN
// 2.1.75, 2.1.112).
type historyEntry struct {
	text, session string
	at            time.Time
}

func historyPath(home string) string { return filepath.Join(home, "history.jsonl") }

// historyReach bounds how far back history.jsonl is read, in bytes.
const historyReach = 1 << 20

// sessionSwitches returns the commands that change a process's session and were typed since then, oldest first. With an
// error, some may be missing. A missing file is no error: the history may be turned off.
func sessionSwitches(ctx context.Context, home string, since time.Time) (out []historyEntry, err error) {
	f, err := fsread.Open(ctx, historyPath(home))
	if fsread.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	damaged := 0
	_, err = f.Backward(historyReach, func(l fsread.Line) bool {
		if l.Cut || jsonl.Damaged(l.Bytes) {
			damaged++
			return true
		}
		t := parseHistoryEntry(l.Bytes)
		if command, _, _ := strings.Cut(t.text, " "); command == "/clear" || command == "/resume" {
			out = append(out, t)
		}
		return t.at.IsZero() || !t.at.Before(since)
	})
	slices.Reverse(out)
	out = slices.DeleteFunc(out, func(t historyEntry) bool { return t.at.Before(since) })
	if err == nil && damaged > 0 {
		err = fmt.Errorf("damaged lines: %d of those that may tell which session a process changed to", damaged)
	}
	return out, err
}

func parseHistoryEntry(raw []byte) historyEntry {
	var t struct {
		Display   string `json:"display"`
		SessionID string `json:"sessionId"`
		Timestamp int64  `json:"timestamp"` // milliseconds
	}
	_ = unmarshal(raw, &t) // a damaged line was left out before
	return historyEntry{text: strings.TrimSpace(discover.Truncate(t.Display, 100)), session: t.SessionID, at: time.UnixMilli(t.Timestamp)}
}

// mayHaveBegun reports whether this command may have begun a session that was created at this time.
func (t historyEntry) mayHaveBegun(created time.Time) bool {
	const handling = 2 * time.Second // Claude Code needs some 10 ms
	after := created.Sub(t.at)
	return strings.HasPrefix(t.text, "/clear") && after > -handling && after < handling
}

// followSwitches returns the session that the commands lead to. known is false if a step is unknown: a session chosen from
// a list, or a /clear that several sessions, or none, may result from.
func followSwitches(session string, steps []historyEntry, cleared map[string]time.Time) (last string, known bool) {
	for _, step := range steps {
		if step.session != session {
			continue
		}
		if id, ok := strings.CutPrefix(step.text, "/resume "); ok && isUUID(id) {
			session = id
			continue
		}
		var next []string
		for id, created := range cleared {
			if step.mayHaveBegun(created) {
				next = append(next, id)
			}
		}
		if len(next) != 1 {
			return session, false
		}
		session = next[0]
	}
	return session, true
}
