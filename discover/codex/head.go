package codex

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// headLimit is the number of bytes that are searched for the first prompt. It follows some 40 KB of the agent's instructions; a prompt
// of 300 KB has been seen.
const headLimit = 4 << 20

// rolloutHead is the beginning of a rollout.
type rolloutHead struct {
	FileID      string // the thread's ID by the file's name
	lines       int
	SessionMeta sessionMeta
	// Prompt is the user's first prompt, Review the description of what a review is about.
	Prompt, Review string
	Name           string // the newest name, "" if there is none
	own            ownTurn
	damage         storage.Damage
	end            int64 // the offset of the last line that was read
}

// Complete reports whether all that the beginning of a rollout can contain is known.
func (r *rolloutHead) Complete() bool {
	return r.Prompt != "" && r.SessionMeta.Found && (r.own.found || !r.SessionMeta.mayBeginWithCopies())
}

// MayInherit reports whether the token counts of the rollout may contain those of a rollout that it continues, or that it has copies of.
func (r *rolloutHead) MayInherit() bool {
	return r.SessionMeta.HasBase() || r.SessionMeta.mayBeginWithCopies() && (r.own.copied || r.own.found && r.own.counted)
}

// ownTurn finds the first turn of a thread's own. A thread that was forked from another one, or that another one started, may begin with
// copies of that one's records (SEEN 0.104, 0.144): with its first record or without it, with the times of the originals or new ones.
// The ID of a turn contains the time at which it began, and a copied turn is older than the thread.
type ownTurn struct {
	created time.Time // the thread
	found   bool
	copied  bool // copies have come
	counted bool // a token count has come before it
}

func newOwnTurn(thread string) ownTurn {
	created, _ := threadCreated(thread)
	return ownTurn{created: created}
}

// begins reports whether a record, of which the oldest come first, begins the first turn of the thread's own: all before it are copies.
func (o *ownTurn) begins(r *rolloutLine, l storage.Line) bool {
	if o.found || o.created.IsZero() {
		return false
	}
	began, dated := threadCreated(r.Get("turn_id").Text(0))
	switch {
	case r.Kind == kindSessionMeta:
		o.copied = o.copied || l.Offset > 0
	case startsTurn(r.Kind) && dated:
		o.found = !began.Before(o.created)
		o.copied = o.copied || !o.found
	case r.Kind == kindTurnCompleted && dated:
		o.copied = true
	case r.Kind == kindTokenCount:
		o.counted = true
	}
	return o.found
}

// errNoMeta is the error of a file with complete lines of which none is the first record of a rollout.
var errNoMeta = errors.New("no session_meta record: not a rollout of Codex, or a damaged one")

// readHead reads the rollout of a thread from its beginning until enough is true. In a file without a complete line, which may be a rollout
// that is being written or that a crash cut off, SessionMeta is not found; that is not an error. Error: [errNoMeta].
func readHead(f *storage.File, id string, enough func(*rolloutHead) bool) (h rolloutHead, err error) {
	h.FileID = id
	_, err = f.Parse(headLimit, parser(h.ThreadID, func(l storage.Line, r *rolloutLine) bool {
		h.addLine(l, r)
		return !enough(&h)
	}))
	if h.own.copied && !h.own.found {
		h.Prompt, h.Review = "", ""
	}
	if err == nil && !h.SessionMeta.Found && (h.lines > 0 || !mayBecomeRollout(f)) {
		err = errNoMeta
	}
	return h, err
}

// mayBecomeRollout reports whether a file without a complete line may be the beginning of a rollout.
func mayBecomeRollout(f *storage.File) bool {
	const start = `{"timestamp":"`
	buf := make([]byte, 2*len(start))
	n, _ := f.ReadAt(buf, 0)
	begin := strings.Join(strings.Fields(string(buf[:n])), "") // other programs write white space
	return f.Size() < headLimit && strings.HasPrefix(start, begin[:min(len(begin), len(start))])
}

func (r *rolloutHead) addLine(l storage.Line, parsed *rolloutLine) {
	r.lines++
	r.end = l.Offset
	switch {
	case l.Rest:
		r.damage.Add(l)
	case l.Cut:
	case parsed.Kind == kindSessionMeta && !r.SessionMeta.Found:
		// In a fork of an older version, a copy of the other thread's first record may follow.
		m := parseMeta(parsed)
		if m.Found = l.Offset == 0 || m.ID == r.FileID; m.Found {
			r.SessionMeta = m
			r.own = newOwnTurn(r.ThreadID())
		}
	case r.SessionMeta.mayBeginWithCopies() && r.own.begins(parsed, l):
		r.Prompt, r.Review = "", ""
	case parsed.Kind == kindNamed:
		r.Name = cmp.Or(threadName(parsed.payload), r.Name)
	case parsed.Kind == kindUserText:
		r.Prompt = boundedPrompt(parsed.Text())
	case parsed.Kind == kindGoal && parsed.isUsersGoal():
		r.Prompt = cmp.Or(r.Prompt, boundedPrompt(parsed.Text()))
	case parsed.Kind == kindReviewEntered:
		r.Review = discover.Truncate(parsed.Text(), discover.PromptLimit)
	}
}

// ThreadID is the thread by the first record, or by the file's name while that record is missing.
func (r *rolloutHead) ThreadID() string {
	return cmp.Or(r.SessionMeta.ID, r.FileID)
}

// boundedPrompt is the text of a prompt without what a launch, or Codex's extension of an editor, puts before the user's words, truncated.
func boundedPrompt(text string) string {
	context, request, ok := strings.Cut(text, "\n## My request for Codex:\n")
	if ok && strings.HasPrefix(context, "# Context from my IDE setup:") {
		text = cmp.Or(strings.TrimSpace(request), "[image]") // the editor sends no empty request
	}
	return discover.PromptText(text)
}

// sessionMeta is the first record of a rollout. Codex writes it when the thread begins and never changes it.
type sessionMeta struct {
	Found                          bool
	ID, Root, Parent, ForkedFrom   string
	Created                        time.Time
	Dir, Branch, Version, Provider string
	Originator                     string
	Source                         threadSource
	Nickname, Role                 string
	HistoryBase                    historyBase
}

// HasBase reports whether the rollout continues another one: that of the thread it was forked from, or an older one of its own thread.
func (s *sessionMeta) HasBase() bool { return s.ForkedFrom != "" || s.HistoryBase != historyBase{} }

// mayBeginWithCopies reports whether the rollout may begin with copies of another thread's records; see [ownTurn].
func (s *sessionMeta) mayBeginWithCopies() bool { return s.HasBase() || s.StarterID() != "" }

// parseMeta parses the first record, which may be cut off, in one pass: long instructions are most of it.
func parseMeta(r *rolloutLine) sessionMeta {
	m := sessionMeta{Created: r.Time()}
	ids := map[string]*string{"id": &m.ID, "session_id": &m.Root, "parent_thread_id": &m.Parent, "forked_from_id": &m.ForkedFrom}
	texts := map[string]*string{
		"cwd": &m.Dir, "originator": &m.Originator, "cli_version": &m.Version, "model_provider": &m.Provider,
		"agent_nickname": &m.Nickname, "agent_role": &m.Role,
	}
	for key, value := range r.payload.Members() {
		if id := ids[string(key)]; id != nil {
			*id = parseThreadID(value)
		} else if text := texts[string(key)]; text != nil {
			*text = value.Text(0)
		}
		switch string(key) {
		case "timestamp":
			m.Created = cmp.Or(value.Time(), m.Created)
		case "source":
			m.Source = parseSource(value)
		case "history_base":
			m.HistoryBase = parseHistoryBase(value.Object())
		case "git":
			m.Branch = value.Object().Get("branch").Text(0)
		}
	}
	if m.Branch == "HEAD" {
		m.Branch = ""
	}
	return m
}

// facts are those that only Codex has; docs/agents/codex.md says what becomes of all members of the record:
//
//   - originator: the program that made the thread, as it names itself ("codex_exec", "codex-tui")
//   - provider: the model's provider
//   - subagent, agentNickname, agentRole: what kind of sub-agent it is
func (s *sessionMeta) facts() discover.Facts {
	return discover.Facts{
		"originator": s.Originator, "provider": s.Provider, "subagent": s.Source.Subagent, "agentNickname": s.Nickname, "agentRole": s.Role,
	}.WithoutEmpty()
}

// ParentID is the thread that started this one as a sub-agent or reviewer. It is the root of the tree where that is recorded (0.145
// and later).
func (s *sessionMeta) ParentID() string { return s.firstOther(s.Root, s.Parent, s.Source.Parent) }

// StarterID is the thread that itself started this one. It may be a sub-agent.
func (s *sessionMeta) StarterID() string { return s.firstOther(s.Parent, s.Source.Parent, s.Root) }

// firstOther is the first of the IDs that is neither empty nor the thread's own.
func (s *sessionMeta) firstOther(ids ...string) string {
	return cmp.Or(slices.DeleteFunc(ids, func(id string) bool { return id == s.ID })...)
}

// threadSource is how a thread began: a word or, for a thread that another one started, an object.
type threadSource struct {
	Word string
	// Subagent is the kind of sub-agent ("review", "thread_spawn"), "" for a thread that the user began.
	Subagent, Parent string
}

func parseSource(v storage.Value) threadSource {
	if word := v.Text(0); word != "" {
		return threadSource{Word: word}
	}
	for key, value := range v.Object().Members() {
		s := threadSource{Word: string(key)}
		if s.Word != "subagent" {
			return s
		}
		s.Subagent = value.Text(0)
		for kind, spawn := range value.Object().Members() {
			s.Subagent, s.Parent = string(kind), parseThreadID(spawn.Object().Get("parent_thread_id"))
		}
		return s
	}
	return threadSource{}
}

// SourceName is the source by the names that all agents share. The TUIs of the daemon call themselves "vscode" (0.160–0.169), so the
// originator counts as well.
func (s *sessionMeta) SourceName() string {
	switch s.Source.Word {
	case "":
		if s.Originator == "codex_exec" {
			return "exec"
		}
		return "" // 0.42 does not record it
	case "cli":
		return "tui"
	case "vscode":
		if s.Originator == "codex-tui" {
			return "tui"
		}
		return "server"
	case "mcp", "appServer", "app_server":
		return "server"
	case "subagent":
		if s.Source.Subagent == "review" {
			return "review"
		}
	}
	return s.Source.Word
}

// historyBase is the place that a rollout continues from in another one (0.147 and later).
type historyBase struct {
	ID                  string // the last ID in the name of the other rollout
	EndByte, EndOrdinal int64  // the offset and the ordinal of its first record that does not count any more
}

// parseHistoryBase reads the member "history_base" of a first record.
func parseHistoryBase(o storage.Object) historyBase {
	return historyBase{
		ID: parseThreadID(o.Get("thread_id")), EndByte: o.Get("end_byte_offset").Int(), EndOrdinal: o.Get("end_ordinal_exclusive").Int(),
	}
}
