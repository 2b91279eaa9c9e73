package codex

import (
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// headLimit is how far into a file the first prompt is searched for. It follows some 40 KB of the agent's own
// instructions; a prompt of 300 KB has been seen.
const headLimit = 4 << 20

// head is what the beginning of a rollout tells.
type head struct {
	id      string // by the file's name
	segment string // likewise, where the thread has several
	lines   int
	meta    meta
	// prompt is the first thing the person asked; review is what a review was told to look at.
	prompt, review string
}

// meta is the first record, written once when the thread begins and never again.
type meta struct {
	found                          bool
	id, root, parent, forkedFrom   string
	created                        time.Time
	dir, branch, version, provider string
	originator                     string
	source                         source
	nickname, role                 string
	history                        history
}

// continues reports whether the rollout goes on from another one: that of the thread it was forked from, or an older one
// of its own.
func (m *meta) continues() bool { return m.forkedFrom != "" || m.history != history{} }

// whole reports whether a head tells all that the beginning of a rollout can tell.
func (h *head) whole() bool { return h.prompt != "" && h.meta.found }

// readHead reads the rollout of the thread of that id from its beginning until there is enough. Without a first record the
// rollout has none yet: it is being written, or was cut by a crash. Error: errNoMeta if it is no rollout.
func readHead(f *native.File, id string, enough func(*head) bool) (h head, err error) {
	h.id = id
	f.Expect(usualPrompt)
	_, err = f.Forward(0, headLimit, func(l native.Line) bool {
		h.line(l)
		return !enough(&h)
	})
	if err == nil && !h.meta.found && (h.lines > 0 || !mayBegin(f)) {
		err = errNoMeta
	}
	return h, err
}

// mayBegin reports whether a file without a whole line may be the beginning of a rollout.
func mayBegin(f *native.File) bool {
	const start = `{"timestamp":"`
	buf := make([]byte, min(f.Size(), int64(len(start))))
	n, _ := f.ReadAt(buf, 0)
	return f.Size() < headLimit && strings.HasPrefix(start, string(buf[:n]))
}

// line takes the next line.
func (h *head) line(l native.Line) {
	h.lines++
	r, ok := decode(l.Bytes, h.ownID())
	switch {
	case !ok:
	case r.is == sessionMeta && !h.meta.found && r.whole(l.Bytes):
		// A copy of another thread's first record may follow in a fork of the older versions.
		m := parseMeta(&r)
		if m.found = l.Offset == 0 || m.id == h.id; m.found {
			h.meta = m
		}
	case r.is == userText && r.whole(l.Bytes):
		h.prompt = promptOf(r.text())
	case r.is == reviewEntered && r.whole(l.Bytes):
		h.review = discover.Truncate(r.text(), discover.PromptLimit)
	}
}

func (h *head) ownID() string {
	if h.meta.id != "" {
		return h.meta.id
	}
	return h.id
}

// promptOf is a prompt as a record keeps it.
func promptOf(text string) string {
	return discover.Truncate(discover.WithoutContext(text), discover.PromptLimit)
}

// parseMeta reads the first record, as far as it is at hand, in one pass: most of it are long instructions.
func parseMeta(r *record) meta {
	m := meta{created: r.time()}
	for key, value := range r.payload.Members() {
		switch string(key) {
		case "id":
			m.id = threadID(value)
		case "session_id":
			m.root = threadID(value)
		case "parent_thread_id":
			m.parent = threadID(value)
		case "forked_from_id":
			m.forkedFrom = threadID(value)
		case "timestamp":
			if t := value.Time(); !t.IsZero() {
				m.created = t
			}
		case "cwd":
			m.dir = value.Text(0)
		case "originator":
			m.originator = value.Text(0)
		case "cli_version":
			m.version = value.Text(0)
		case "source":
			m.source = parseSource(value)
		case "model_provider":
			m.provider = value.Text(0)
		case "agent_nickname":
			m.nickname = value.Text(0)
		case "agent_role":
			m.role = value.Text(0)
		case "history_base":
			m.history = parseHistory(value.Object())
		case "git":
			m.branch = value.Object().Get("branch").Text(0)
		}
	}
	if m.branch == "HEAD" {
		m.branch = ""
	}
	return m
}

// threadID is a value that names a thread, "" if it is none: a damaged id is no id.
func threadID(v native.Value) string {
	if id := v.Text(0); isUUID(id) {
		return id
	}
	return ""
}

// parentID is the thread that this one was started by as a sub-agent or reviewer, the root of the tree where it is
// recorded (0.145 and later).
func (m *meta) parentID() string { return m.another(m.root, m.parent, m.source.parent) }

// starterID is the same, but the very thread that started this one, which may be a sub-agent itself.
func (m *meta) starterID() string { return m.another(m.parent, m.source.parent, m.root) }

// another is the first of the ids that is not the thread's own.
func (m *meta) another(ids ...string) string {
	for _, id := range ids {
		if id != "" && id != m.id {
			return id
		}
	}
	return ""
}

// source is how a thread began, as its first record says: a word, or for a thread that another one started an object.
type source struct {
	word string
	// sub is what kind of sub-agent it is ("review", "thread_spawn"), "" for a thread of a person's own.
	sub, parent string
}

func parseSource(v native.Value) source {
	if word := v.Text(0); word != "" {
		return source{word: word}
	}
	for key, value := range v.Object().Members() {
		s := source{word: string(key)}
		if s.word != "subagent" {
			return s
		}
		s.sub = value.Text(0)
		for kind, spawn := range value.Object().Members() {
			s.sub, s.parent = string(kind), threadID(spawn.Object().Get("parent_thread_id"))
		}
		return s
	}
	return source{}
}

// kind is the source in the words that all agents share. The daemon's TUIs call themselves "vscode" (0.160–0.169), so
// the program that asked counts too.
func (m *meta) kind() string {
	switch m.source.word {
	case "":
		if m.originator == "codex_exec" {
			return "exec"
		}
		return "" // 0.42 does not record it
	case "cli":
		return "tui"
	case "vscode":
		if m.originator == "codex-tui" {
			return "tui"
		}
		return "server"
	case "mcp", "appServer", "app_server":
		return "server"
	case "subagent":
		if m.source.sub == "review" {
			return "review"
		}
	}
	return m.source.word
}
