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
	return fsread.FilterParallel(ctx, func(e discover.Entry, buffers *fsread.Buffers) bool { return mayMatch(e.Path, buffers, match) })(entries)
}

// mayMatch reports whether a transcript may match or cannot be read.
func mayMatch(path string, buffers *fsread.Buffers, match func([]byte) bool) (found bool) {
	if path == "" {
		return true
	}
	f, err := buffers.OpenIn(path)
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
