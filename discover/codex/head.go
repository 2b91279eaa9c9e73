package codex

import (
	"errors"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// headLimit is the number of bytes that are searched for the first prompt. It follows some 40 KB of the agent's instructions; a prompt
// of 300 KB has been seen.
const headLimit = 4 << 20

// rolloutHead is the beginning of a rollout.
type rolloutHead struct {
	FileID  string // the thread's ID by the file's name
	Segment string // the segment's ID by the file's name, "" in a thread's first rollout
	lines   int
	Meta    sessionMeta
	// Prompt is the user's first prompt, Review the description of what a review is about.
	Prompt, Review string
}

// Complete reports whether all that the beginning of a rollout can contain is known.
func (h *rolloutHead) Complete() bool { return h.Prompt != "" && h.Meta.Found }

// errNoMeta is the error of a file with complete lines of which none is the first record of a rollout.
var errNoMeta = errors.New("no session_meta record: this is no rollout of Codex, or a damaged one")

// readHead reads the rollout of a thread from its beginning until enough is true. A file without a complete line may be a rollout that is
// just being written, or that a crash cut off: its Meta is not found, which is no error. Error: [errNoMeta].
func readHead(f *fsread.File, id string, enough func(*rolloutHead) bool) (h rolloutHead, err error) {
	h.FileID = id
	_, err = f.Forward(0, headLimit, func(l fsread.Line) bool {
		h.addLine(l)
		return !enough(&h)
	})
	if err == nil && !h.Meta.Found && (h.lines > 0 || !mayBecomeRollout(f)) {
		err = errNoMeta
	}
	return h, err
}

// mayBecomeRollout reports whether a file without a complete line may be the beginning of a rollout.
func mayBecomeRollout(f *fsread.File) bool {
	const start = `{"timestamp":"`
	buf := make([]byte, min(f.Size(), int64(len(start))))
	n, _ := f.ReadAt(buf, 0)
	return f.Size() < headLimit && strings.HasPrefix(start, string(buf[:n]))
}

// addLine adds the next line.
func (h *rolloutHead) addLine(l fsread.Line) {
	h.lines++
	r, ok := decodeRecord(l.Bytes, h.ThreadID())
	switch {
	case !ok:
	case r.Kind == kindSessionMeta && !h.Meta.Found && r.Complete(l.Bytes):
		// In a fork of an older version, a copy of the other thread's first record may follow.
		m := parseMeta(&r)
		if m.Found = l.Offset == 0 || m.ID == h.FileID; m.Found {
			h.Meta = m
		}
	case r.Kind == kindUserText && r.Complete(l.Bytes):
		h.Prompt = boundedPrompt(r.Text())
	case r.Kind == kindReviewEntered && r.Complete(l.Bytes):
		h.Review = discover.Truncate(r.Text(), discover.PromptLimit)
	}
}

// ThreadID is the thread by the first record, or by the file's name while that record is missing.
func (h *rolloutHead) ThreadID() string {
	if h.Meta.ID != "" {
		return h.Meta.ID
	}
	return h.FileID
}

// boundedPrompt is the text of a prompt without the context block that a launch puts before it, truncated.
func boundedPrompt(text string) string {
	return discover.Truncate(discover.StripContextFiles(text), discover.PromptLimit)
}
