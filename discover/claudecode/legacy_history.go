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

// historyEntry is one line of history.jsonl: what a person typed into a TUI, and the session it was typed in (seen in 2.1.75
// and 2.1.112).
type historyEntry struct {
	text, session string
	at            time.Time
}

func historyPath(home string) string { return filepath.Join(home, "history.jsonl") }

// historyReach bounds how far back the history is read, in bytes.
const historyReach = 1 << 20

// sessionSwitches returns the commands that change a process's session, typed since then, oldest first. With an error there may be
// more of them. No history is no error: it may be turned off.
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
	_ = unmarshal(raw, &t) // it is whole
	return historyEntry{text: strings.TrimSpace(discover.Truncate(t.Display, 100)), session: t.SessionID, at: time.UnixMilli(t.Timestamp)}
}

// mayHaveBegun reports whether a session that was created then was begun by this command.
func (t historyEntry) mayHaveBegun(created time.Time) bool {
	const handling = 2 * time.Second // it took some 10 ms
	after := created.Sub(t.at)
	return strings.HasPrefix(t.text, "/clear") && after > -handling && after < handling
}

// followSwitches goes from session to session as the person did. known is false where a step cannot be seen: a session chosen
// from a list, or a /clear that several sessions, or none, may have come of.
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
