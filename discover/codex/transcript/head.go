package transcript

import (
	"errors"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// HeadLimit is how far into a file the first prompt is searched for. It follows some 40 KB of the agent's own
// instructions; a prompt of 300 KB has been seen.
const HeadLimit = 4 << 20

// Head is what the beginning of a rollout tells.
type Head struct {
	FileID  string // by the file's name
	Segment string // likewise, where the thread has several
	lines   int
	Meta    Meta
	// Prompt is the first thing the person asked; review is what a review was told to look at.
	Prompt, Review string
}

// Complete reports whether a head tells all that the beginning of a rollout can tell.
func (h *Head) Complete() bool { return h.Prompt != "" && h.Meta.Found }

// expectedPrompt is the number of bytes within which most rollouts have the first prompt. It follows the agent's instructions, at
// 11 to 24 KB.
const expectedPrompt = 24 << 10

// ErrNoMeta: the file has whole lines, but none of them is the record that every rollout begins with.
var ErrNoMeta = errors.New("no session_meta record: this is no rollout of Codex, or a damaged one")

// ReadHead reads the rollout of the thread of that id from its beginning until there is enough. Without a first record the
// rollout has none yet: it is being written, or was cut by a crash. Error: errNoMeta if it is no rollout.
func ReadHead(f *fsread.File, id string, enough func(*Head) bool) (h Head, err error) {
	h.FileID = id
	f.Expect(expectedPrompt)
	_, err = f.Forward(0, HeadLimit, func(l fsread.Line) bool {
		h.addLine(l)
		return !enough(&h)
	})
	if err == nil && !h.Meta.Found && (h.lines > 0 || !mayBecomeRollout(f)) {
		err = ErrNoMeta
	}
	return h, err
}

// mayBecomeRollout reports whether a file without a whole line may be the beginning of a rollout.
func mayBecomeRollout(f *fsread.File) bool {
	const start = `{"timestamp":"`
	buf := make([]byte, min(f.Size(), int64(len(start))))
	n, _ := f.ReadAt(buf, 0)
	return f.Size() < HeadLimit && strings.HasPrefix(start, string(buf[:n]))
}

// addLine takes the next line.
func (h *Head) addLine(l fsread.Line) {
	h.lines++
	r, ok := Decode(l.Bytes, h.ThreadID())
	switch {
	case !ok:
	case r.Kind == SessionMeta && !h.Meta.Found && r.Complete(l.Bytes):
		// A copy of another thread's first record may follow in a fork of the older versions.
		m := ParseMeta(&r)
		if m.Found = l.Offset == 0 || m.ID == h.FileID; m.Found {
			h.Meta = m
		}
	case r.Kind == UserText && r.Complete(l.Bytes):
		h.Prompt = boundedPrompt(r.Text())
	case r.Kind == ReviewEntered && r.Complete(l.Bytes):
		h.Review = discover.Truncate(r.Text(), discover.PromptLimit)
	}
}

// ThreadID is the thread by the first record, or by the file's name while that record is missing.
func (h *Head) ThreadID() string {
	if h.Meta.ID != "" {
		return h.Meta.ID
	}
	return h.FileID
}

// boundedPrompt is a prompt as a record keeps it.
func boundedPrompt(text string) string {
	return discover.Truncate(discover.StripContextFiles(text), discover.PromptLimit)
}
