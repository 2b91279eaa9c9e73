package codex

import (
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// HeadLimit is how far into a file the first prompt is searched for. It follows some 40 KB of the agent's own
// instructions; a prompt of 300 KB has been seen.
const HeadLimit = 4 << 20

// Head is what the beginning of a rollout tells.
type Head struct {
	fileID  string // by the file's name
	Segment string // likewise, where the thread has several
	lines   int
	Meta    Meta
	// Prompt is the first thing the person asked; review is what a review was told to look at.
	Prompt, Review string
}

// Meta is the first record, written once when the thread begins and never again.
type Meta struct {
	Found                          bool
	ID, Root, Parent, ForkedFrom   string
	Created                        time.Time
	Dir, Branch, Version, Provider string
	Originator                     string
	Source                         Source
	Nickname, Role                 string
	HistoryBase                    HistoryBase
}

// HasBase reports whether the rollout goes on from another one: that of the thread it was forked from, or an older one
// of its own.
func (m *Meta) HasBase() bool { return m.ForkedFrom != "" || m.HistoryBase != HistoryBase{} }

// Complete reports whether a head tells all that the beginning of a rollout can tell.
func (h *Head) Complete() bool { return h.Prompt != "" && h.Meta.Found }

// ReadHead reads the rollout of the thread of that id from its beginning until there is enough. Without a first record the
// rollout has none yet: it is being written, or was cut by a crash. Error: errNoMeta if it is no rollout.
func ReadHead(f *native.File, id string, enough func(*Head) bool) (h Head, err error) {
	h.fileID = id
	f.Expect(ExpectedPrompt)
	_, err = f.Forward(0, HeadLimit, func(l native.Line) bool {
		h.addLine(l)
		return !enough(&h)
	})
	if err == nil && !h.Meta.Found && (h.lines > 0 || !mayBecomeRollout(f)) {
		err = ErrNoMeta
	}
	return h, err
}

// mayBecomeRollout reports whether a file without a whole line may be the beginning of a rollout.
func mayBecomeRollout(f *native.File) bool {
	const start = `{"timestamp":"`
	buf := make([]byte, min(f.Size(), int64(len(start))))
	n, _ := f.ReadAt(buf, 0)
	return f.Size() < HeadLimit && strings.HasPrefix(start, string(buf[:n]))
}

// addLine takes the next line.
func (h *Head) addLine(l native.Line) {
	h.lines++
	r, ok := Decode(l.Bytes, h.ThreadID())
	switch {
	case !ok:
	case r.Kind == SessionMeta && !h.Meta.Found && r.Complete(l.Bytes):
		// A copy of another thread's first record may follow in a fork of the older versions.
		m := ParseMeta(&r)
		if m.Found = l.Offset == 0 || m.ID == h.fileID; m.Found {
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
	return h.fileID
}

// boundedPrompt is a prompt as a record keeps it.
func boundedPrompt(text string) string {
	return discover.Truncate(discover.WithoutContext(text), discover.PromptLimit)
}

// ParseMeta reads the first record, as far as it is at hand, in one pass: most of it are long instructions.
func ParseMeta(r *Record) Meta {
	m := Meta{Created: r.Time()}
	for key, value := range r.payload.Members() {
		switch string(key) {
		case "id":
			m.ID = ParseThreadID(value)
		case "session_id":
			m.Root = ParseThreadID(value)
		case "parent_thread_id":
			m.Parent = ParseThreadID(value)
		case "forked_from_id":
			m.ForkedFrom = ParseThreadID(value)
		case "timestamp":
			if t := value.Time(); !t.IsZero() {
				m.Created = t
			}
		case "cwd":
			m.Dir = value.Text(0)
		case "originator":
			m.Originator = value.Text(0)
		case "cli_version":
			m.Version = value.Text(0)
		case "source":
			m.Source = parseSource(value)
		case "model_provider":
			m.Provider = value.Text(0)
		case "agent_nickname":
			m.Nickname = value.Text(0)
		case "agent_role":
			m.Role = value.Text(0)
		case "history_base":
			m.HistoryBase = ParseHistoryBase(value.Object())
		case "git":
			m.Branch = value.Object().Get("branch").Text(0)
		}
	}
	if m.Branch == "HEAD" {
		m.Branch = ""
	}
	return m
}

// ParseThreadID is a value that names a thread, "" if it is none: a damaged id is no id.
func ParseThreadID(v native.Value) string {
	if id := v.Text(0); IsThreadID(id) {
		return id
	}
	return ""
}

// ParentID is the thread that this one was started by as a sub-agent or reviewer, the root of the tree where it is
// recorded (0.145 and later).
func (m *Meta) ParentID() string { return m.firstOther(m.Root, m.Parent, m.Source.Parent) }

// StarterID is the same, but the very thread that started this one, which may be a sub-agent itself.
func (m *Meta) StarterID() string { return m.firstOther(m.Parent, m.Source.Parent, m.Root) }

// firstOther is the first of the ids that is not the thread's own.
func (m *Meta) firstOther(ids ...string) string {
	for _, id := range ids {
		if id != "" && id != m.ID {
			return id
		}
	}
	return ""
}

// Source is how a thread began, as its first record says: a word, or for a thread that another one started an object.
type Source struct {
	Word string
	// Subagent is what kind of sub-agent it is ("review", "thread_spawn"), "" for a thread of a person's own.
	Subagent, Parent string
}

func parseSource(v native.Value) Source {
	if word := v.Text(0); word != "" {
		return Source{Word: word}
	}
	for key, value := range v.Object().Members() {
		s := Source{Word: string(key)}
		if s.Word != "subagent" {
			return s
		}
		s.Subagent = value.Text(0)
		for kind, spawn := range value.Object().Members() {
			s.Subagent, s.Parent = string(kind), ParseThreadID(spawn.Object().Get("parent_thread_id"))
		}
		return s
	}
	return Source{}
}

// SourceName is the source in the words that all agents share. The daemon's TUIs call themselves "vscode" (0.160–0.169), so
// the program that asked counts too.
func (m *Meta) SourceName() string {
	switch m.Source.Word {
	case "":
		if m.Originator == "codex_exec" {
			return "exec"
		}
		return "" // 0.42 does not record it
	case "cli":
		return "tui"
	case "vscode":
		if m.Originator == "codex-tui" {
			return "tui"
		}
		return "server"
	case "mcp", "appServer", "app_server":
		return "server"
	case "subagent":
		if m.Source.Subagent == "review" {
			return "review"
		}
	}
	return m.Source.Word
}
