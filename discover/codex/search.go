package codex

import (
	"bytes"
	"context"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// FilterContent implements [discover.Adapter]. It reads whole rollouts. A word that two parts of one message have only
// together is not found.
func (Adapter) FilterContent(ctx context.Context, entries []discover.Entry, match func([]byte) bool) []discover.Entry {
	return storage.FilterParallel(ctx, entries, func(ctx context.Context, e discover.Entry) bool { return mayMatch(ctx, e.Path, match) })
}

// mayMatch reports whether a rollout may match, cannot be read, or continues another one.
func mayMatch(ctx context.Context, path string, match func([]byte) bool) bool {
	f, g, err := openRollout(ctx, path)
	if err != nil || g.size > 0 {
		return true // the later reading of the messages reports what is left out
	}
	defer f.Close()
	begin, found := true, false
	err = f.Blocks(func(b []byte) bool {
		found = begin && continuesAnother(b) || match(b)
		begin = false
		return !found
	})
	return found || err != nil
}

// continuesAnother reports whether the first record of a rollout says that it continues another one.
func continuesAnother(rollout []byte) bool {
	first, _, _ := bytes.Cut(rollout, []byte("\n"))
	r, ok := decodeRecord(first, "")
	return ok && parseHistoryBase(r.Get("history_base").Object()).ID != ""
}
