package claudecode

import (
	"bytes"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// rawLine is what is read of one line of a transcript, a record. Conversation records (user, assistant, system, attachment) have an envelope: time, directory, version, … All
// others are metadata of the session, mostly without a time and a directory. Values are valid as long as the line that they
// were parsed from. Members that few records have, or few readers need, are got by name.
type rawLine struct {
	storage.Object
	Type, Subtype string
	apiMessage

	IsMeta            bool // a user record that the user did not write
	IsCompactSummary  bool
	IsTranscriptOnly  bool
	IsAPIErrorMessage bool
	RequestSessionID  storage.Value // of an answer in a fork: the session that asked for it (2.1.329)
	ForkedFrom        storage.Value // the session that /branch copied the record from
	PermissionMode    string        // of a user record with a prompt

	Origin           storage.Value // of a user record: its kind is human, task-notification, peer, …; may be missing
	UUID, ParentUUID storage.Value
	// IsSidechain: the record is a sub-agent's. Up to 2.0.x such records may be in the session's file.
	IsSidechain bool
	Timestamp   storage.Value // RFC 3339, milliseconds, UTC
	Cwd         storage.Value
	SessionID   storage.Value
}

// envelope is what a conversation record says of its session and its circumstances.
type envelope struct {
	Cwd        string
	Parent     string // of a sub-agent's record: the session that the sub-agent works for
	Version    string
	GitBranch  string // "HEAD" where there is none
	Entrypoint string
	Background bool // the session was in the background then (2.1.197)
	ForkedFrom string
	// Team and Teammate are the names of a team and of the teammate in it that the session's process is.
	Team, Teammate string
}

func (r *rawLine) envelope() envelope {
	text := func(key string) string { return r.Get(key).Text(0) }
	e := envelope{
		Cwd: r.Cwd.Text(0), Version: text("version"), GitBranch: text("gitBranch"), Entrypoint: text("entrypoint"), ForkedFrom: r.ForkedFrom.Text(0),
		Background: text("sessionKind") == "bg", Team: text("teamName"), Teammate: text("agentName"),
	}
	if r.IsSidechain {
		e.Parent = r.SessionID.Text(0)
	}
	return e
}

// apiMessage is the message of the model's API in a user or an assistant record.
type apiMessage struct {
	ID, Model  storage.Value
	StopReason string
	// Content is a string or a list of blocks.
	Content, usageValue storage.Value
}

// synthetic is the model of messages that Claude Code wrote itself.
const synthetic = "<synthetic>"

// synthetic reports whether Claude Code wrote the message itself.
func (a *apiMessage) synthetic() bool { return a.Model.Word(synthetic) == synthetic }

// parser returns a parser that calls visit with each record, which is valid until visit returns; nil for a line that is cut, or what is
// left of a record.
func parser(visit func(storage.Line, *rawLine) bool) storage.Parser {
	r := new(rawLine)
	return func(l storage.Line) (complete, more bool) {
		switch {
		case l.Cut || l.Rest:
			return true, visit(l, nil)
		case r.parse(l.Bytes):
			return true, visit(l, r)
		}
		return false, true
	}
}

// parse parses one line. It reports whether the line is a complete JSON object. A value of an unexpected type is left out; the others
// count.
func (r *rawLine) parse(raw []byte) (complete bool) {
	*r = rawLine{Object: raw}
	return r.Scan(r.set)
}

// set takes one member and returns its length if parsing has shown it, else 0. All names are in one switch, which the
// compiler decides by a few comparisons.
func (r *rawLine) set(key []byte, v storage.Value) (length int) {
	switch string(key) {
	case "type":
		r.Type = v.Word("user", "assistant", "system", "attachment")
	case "subtype":
		r.Subtype = v.Word("turn_duration", "local_command", "compact_boundary", "api_error")
	case "message":
		r.apiMessage, length = parseMessage(v.Object())
	case "requestSessionId":
		r.RequestSessionID = v
	case "origin":
		r.Origin = v
	case "uuid":
		r.UUID = v
	case "isMeta":
		r.IsMeta = v.IsTrue()
	case "isCompactSummary":
		r.IsCompactSummary = v.IsTrue()
	case "isVisibleInTranscriptOnly":
		r.IsTranscriptOnly = v.IsTrue()
	case "isApiErrorMessage":
		r.IsAPIErrorMessage = v.IsTrue()
	case "parentUuid":
		r.ParentUUID = v
	case "isSidechain":
		r.IsSidechain = v.IsTrue()
	case "timestamp":
		r.Timestamp = v
	case "cwd":
		r.Cwd = v
	case "sessionId":
		r.SessionID = v
	case "forkedFrom":
		r.ForkedFrom = v.Object().Get("sessionId")
	case "permissionMode":
		r.PermissionMode = v.Word("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
	}
	return length
}

// parseMessage also returns the length of what it read, 0 if it is damaged.
func parseMessage(o storage.Object) (m apiMessage, length int) {
	length = o.Len(func(key []byte, v storage.Value) int {
		switch string(key) {
		case "id":
			m.ID = v
		case "model":
			m.Model = v
		case "stop_reason":
			m.StopReason = v.Word("end_turn", "tool_use")
		case "content":
			m.Content = v
		case "usage":
			m.usageValue = v
		}
		return 0
	})
	return m, length
}

// usageOf reads what the API counted for a call, or what the agent reports for a model. Neither has a total.
func usageOf(o storage.Object) (u discover.Tokens) {
	for key, v := range o.Members() {
		switch string(key) {
		case "input_tokens", "inputTokens":
			u.In = v.Int()
		case "output_tokens", "outputTokens":
			u.Out = v.Int()
		case "cache_read_input_tokens", "cacheReadInputTokens":
			u.CacheRead = v.Int()
		case "cache_creation_input_tokens", "cacheCreationInputTokens":
			u.CacheWrite = v.Int()
		case "output_tokens_details":
			u.Reasoning = v.Object().Get("thinking_tokens").Int()
		case "thinkingTokens":
			u.Reasoning = v.Int()
		}
	}
	return u
}

// IsMessage reports whether the line is a user or an assistant record.
func (r *rawLine) IsMessage() bool { return r.Type == "user" || r.Type == "assistant" }

// isMetadata reports whether the record is not of the conversation.
func (r *rawLine) isMetadata() bool {
	return r.Type != "" && !r.IsMessage() && r.Type != "system" && r.Type != "attachment"
}

// isFirst reports whether the record is the first one of a conversation.
func (r *rawLine) isFirst() bool {
	return !r.isMetadata() && bytes.HasPrefix(r.ParentUUID, []byte("null"))
}

// time returns the time of a record: that of its envelope, or that of the snapshot in a file-history-snapshot. It is zero if there is none.
func (r *rawLine) time() time.Time {
	if r.Timestamp == nil && r.Type == "file-history-snapshot" {
		return r.Get("snapshot").Object().Get("timestamp").Time()
	}
	return r.Timestamp.Time()
}

// knownTypes are the types of records that Claude Code writes (READ 2.1.332, in the table by which it stores them), those that only
// older versions wrote included. Most are metadata that this package does not read.
const knownTypes = " user assistant system attachment progress summary queue-operation" +
	" custom-title ai-title agent-name agent-color agent-setting tag last-prompt pr-link frame-link" +
	" mode permission-mode memory-mode repl-mode dev-mods isolation-latch atis-latch session-owner host-row" +
	" worktree-state relocated bridge-session continued-in derived-from ended-by-model resume-head-vouch explicit" +
	" file-history-snapshot file-history-delta attribution-snapshot content-replacement fork-context-ref observer-ref" +
	" cost-state tools-used data-flow-records data-flow-incomplete history-suppression hybrid-organization" +
	" api-request api-request-shape api-request-blob api-request-resumed artifact-comment-monitor artifact-autoreact-ledger "

func typeOf(record storage.Object) string { return storage.Kind(record.Get("type")) }
