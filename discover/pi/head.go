package pi

import (
	"errors"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// headLimit is how many bytes are searched for the first prompt, which follows 6 KB of the agent's instructions. A prompt of 300 KB was seen.
const headLimit = 4 << 20

// errNoHeader is the error of a file that does not begin as a session does.
var errNoHeader = errors.New("it does not begin with the header of a session: no session of Pi, or a damaged one")

// head is the beginning of a session's file.
type head struct {
	// found: the first line is the header. begun: there is a first line.
	found, begun bool
	Created      time.Time
	Dir          string
	// ForkedFrom is the ID of the session that this one was copied from, "" if it is none.
	ForkedFrom   string
	Prompt, Name string
	modelChange
	damage storage.Damage
	end    int64 // the offset of the last line that was read
}

// modelChange is the model that an entry sets.
type modelChange struct{ Model, Provider string }

// readHead reads the beginning until the first prompt. A file without a complete line is not found; that is no error.
func readHead(f *storage.File) (h head, err error) {
	_, err = f.Records(headLimit, func(l storage.Line) bool {
		h.add(l)
		return (h.found || !h.begun) && h.Prompt == ""
	})
	if err == nil && !h.found && (h.begun || !mayBecomeSession(f)) {
		err = errNoHeader
	}
	return h, err
}

// mayBecomeSession reports whether a file without a complete line may be the beginning of a session that is being written.
func mayBecomeSession(f *storage.File) bool {
	const start = `{"type":"session"`
	begin := make([]byte, len(start))
	n, _ := f.ReadAt(begin, 0)
	return strings.HasPrefix(start, string(begin[:n])) && f.Size() < headLimit
}

func (h *head) add(l storage.Line) {
	h.end = l.Offset
	e, ok := parseEntry(l.Bytes)
	if l.Rest || !ok && !l.Cut {
		h.begun = true
		h.damage.Add(l)
		return
	}
	switch {
	case !h.begun:
		if h.begun, h.found = true, e.Type == typeSession; h.found {
			h.Created, h.Dir = e.Timestamp.Time(), e.Get("cwd").Text(discover.PathLimit)
			h.ForkedFrom = idOfFile(e.Get("parentSession").Text(discover.PathLimit))
		}
	case e.Type == typeInfo:
		h.Name = e.name()
	case e.Type == typeModel:
		h.modelChange = e.modelChange()
	case e.Role == roleUser:
		h.Prompt = e.prompt()
	}
}

func (e *entry) modelChange() modelChange {
	return modelChange{e.Get("modelId").Text(0), e.Get("provider").Text(0)}
}

// prompt returns the beginning of a message of the user, without what a launch puts before it.
func (e *entry) prompt() string {
	return discover.PromptText(textOf(e.message.Get("content")))
}
