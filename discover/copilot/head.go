package copilot

import (
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// headLimit is how many bytes from the beginning are searched for the first prompt, or in a fork for the end of the copied records. The
// first prompt mostly begins within 4 KB, and takes up twice its size.
const headLimit = 8 << 20

// headReader is what the beginning of a session says.
type headReader struct {
	Found                     bool // there is a session.start
	Version, Model, Prompt    string
	Created                   time.Time
	Context                   sessionContext
	TUI                       bool   // it was begun in a terminal
	ForkedFrom                string // the session that it was copied from
	prompted, fork, forkEnded bool
	damaged                   bool
}

// sessionContext is where a session works, as a record of its start, of a resume or of a change has it.
type sessionContext struct {
	Found       bool
	Dir, Branch string
}

// contextOf parses such a place.
func contextOf(o storage.Object) sessionContext {
	return sessionContext{Found: true, Dir: o.Get("cwd").Text(discover.PathLimit), Branch: o.Get("branch").Text(textLimit)}
}

// textLimit is the most characters of a short text that are kept.
const textLimit = 1000

// Read reads the beginning until the first prompt is known and, in a fork, what it was copied from.
func (h *headReader) Read(f *storage.File) error {
	_, err := f.Records(headLimit, func(l storage.Line) bool {
		e, ok := parseEvent(l.Bytes)
		if l.Rest || !ok && !l.Cut {
			h.damaged = true
			return true
		}
		h.add(&e)
		return !h.prompted || h.fork && !h.forkEnded
	})
	return err
}

func (h *headReader) add(e *event) {
	switch {
	case e.Type == sessionStart && !h.Found:
		h.Found = true
		h.Version, h.Model = e.Data.Get("copilotVersion").Text(idLimit), e.Data.Get("selectedModel").Text(textLimit)
		if h.Created = e.Data.Get("startTime").Time(); h.Created.IsZero() {
			h.Created = e.time()
		}
		h.Context = contextOf(e.Data.Get("context").Object())
		return
	case e.Type == modelChange && !e.ofSubagent():
		h.TUI = h.TUI || e.Data.Get("source").Text(0) == "startup"
		if h.Model == "" {
			h.Model = e.Data.Get("newModel").Text(textLimit)
		}
	case e.fromUser() && !h.prompted:
		h.prompted, h.Prompt = true, discover.PromptText(e.Data.Get("content").Text(0))
	case e.Type == sessionInfo:
		if from := forkOrigin(e.Data); from != "" {
			h.ForkedFrom, h.forkEnded = from, true
		}
	}
	if at := e.time(); !at.IsZero() && at.Before(h.Created) { // a fork begins with copies of the other session's records
		h.fork = true
	}
}

// forkOrigin returns the session that a session.info says this one was copied from: Forked from "NAME" (ID) as "NAME" (ID). NAME is any
// text. It returns "" for any other record.
func forkOrigin(data storage.Object) string {
	text := data.Get("message").Text(0)
	if data.Get("infoType").Text(0) != "fork" || !strings.HasPrefix(text, "Forked from ") {
		return ""
	}
	const between = `) as "`
	i := strings.LastIndex(text, between)
	if i < storage.UUIDLen || !storage.IsUUID(text[i-storage.UUIDLen:i], true) {
		return ""
	}
	return text[i-storage.UUIDLen : i]
}
