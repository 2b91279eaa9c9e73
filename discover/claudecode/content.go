package claudecode

import (
	"bytes"
	"context"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native/fsread"
)

// FilterContent implements [discover.ContentFilter]. It reads whole transcripts. A prompt with pasted text joins strings.
func (Adapter) FilterContent(ctx context.Context, entries []discover.Entry, match func([]byte) bool) []discover.Entry {
	return fsread.FilterParallel(ctx, entries, func(ctx context.Context, e discover.Entry) bool { return mayMatch(ctx, e.Path, match) })
}

// mayMatch reports whether a transcript may match or cannot be read.
func mayMatch(ctx context.Context, path string, match func([]byte) bool) (found bool) {
	if path == "" {
		return true
	}
	f, err := fsread.Open(ctx, path)
	if err != nil {
		return true
	}
	defer f.Close()
	err = f.Blocks(func(b []byte) bool {
		found = match(b) || bytes.Contains(b, []byte(transcript.PasteTag))
		return !found
	})
	return found || err != nil
}
