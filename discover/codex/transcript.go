package codex

import (
	"bytes"
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"agentctl/discover/storage"
)

// rolloutLine is one line of a rollout, a record: {"timestamp":…,"ordinal":…,"type":…,"payload":{…}}. There are two dialects: legacy files have events
// such as user_message, paginated files have item_completed with an item. The kinds are the same for both.
type rolloutLine struct {
	Kind      lineKind
	timestamp storage.Value
	payload   storage.Object
	// body is what the record is about: the payload or its item.
	body storage.Object
	// item: body is an item, which may have its own ID.
	item bool
}

// parser returns a parser that calls visit with each record of a thread's rollout, which is valid until visit returns. Of a line that is cut
// or a rest, the record has what precedes the damage.
func parser(thread func() string, visit func(storage.Line, *rolloutLine) bool) storage.Parser {
	r := new(rolloutLine)
	return func(l storage.Line) (complete, more bool) {
		if complete = r.decode(l.Bytes, thread()) || l.Cut || l.Rest; !complete {
			return false, true
		}
		return true, visit(l, r)
	}
}

// decode reads a line of this thread's rollout, and reports whether it is a complete object. What has no type or no payload is of no known
// kind.
func (r *rolloutLine) decode(line []byte, thread string) (complete bool) {
	*r = rolloutLine{}
	envelope := ""
	damaged := false
	complete = storage.Object(line).Scan(func(key []byte, value storage.Value) (length int) {
		switch string(key) {
		case "timestamp":
			r.timestamp = value
		case "type":
			envelope = value.Word("response_item", "event_msg")
		case "payload":
			if r.payload = value.Object(); isObject(r.payload) {
				length = r.payload.Len(func([]byte, storage.Value) int { return 0 })
				damaged = length == 0
				r.payload = r.payload[:cmp.Or(length, len(r.payload))]
			}
		}
		return length
	})
	if !isObject(r.payload) || envelope == "" {
		r.payload = nil
		return complete
	}
	r.body = r.payload
	switch envelope {
	case "session_meta":
		r.Kind = kindSessionMeta
	case "turn_context":
		r.Kind = kindTurnContext
	case "compacted":
		r.Kind = kindContextCompacted
	case "token_usage_record":
		r.Kind = r.forThread(kindTokenUsage, thread)
	case "event_msg":
		r.Kind = r.eventKind(thread)
	case "response_item":
		r.Kind = r.responseItemKind()
	}
	return complete && !damaged
}

// decodeCut decodes a line that is cut in a backward read by its beginning: that is enough to know which call has a result.
func (r *rolloutLine) decodeCut(f *storage.File, l storage.Line, thread string) {
	const most, piece, head = 128 << 20, 128 << 10, 4 << 10
	buf := make([]byte, piece)
	for end := l.Offset; end > 0 && l.Offset-end < most; end -= piece {
		start := max(end-piece, 0)
		n, _ := f.ReadAt(buf[:end-start], start)
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			n, _ = f.ReadAt(buf[:head], start+int64(i)+1)
			r.decode(buf[:n], thread)
			return
		}
	}
}

// typeName is the payload's type. Codex writes it first.
func (r *rolloutLine) typeName() string {
	return r.Get("type").Word("message", "function_call", "function_call_output", "token_count", "reasoning", "item_completed")
}

// Get returns a member of the payload, nil if there is none.
func (r *rolloutLine) Get(name string) storage.Value { return r.payload.Get(name) }

// Time is when the record was written, in UTC. It is zero if the record does not say.
func (r *rolloutLine) Time() time.Time { return r.timestamp.Time() }

// Text is the text of a message or an item, or the description of what a review or a goal is about.
func (r *rolloutLine) Text() string {
	switch r.Kind {
	case kindReviewEntered:
		return r.body.Get("user_facing_hint").Text(0)
	case kindGoal:
		return r.body.Get("objective").Text(0)
	}
	if content := r.body.Get("content"); content != nil {
		return joinedText(content)
	}
	text := cmp.Or(r.body.Get("message").Text(0), r.body.Get("text").Text(0))
	for _, images := range [...]string{"images", "local_images"} {
		for range r.body.Get(images).Elements() {
			text = orImage(text)
		}
	}
	return text
}

// joinedText is the text of all parts of a message.
func joinedText(content storage.Value) string {
	var b strings.Builder
	hasImage := false
	for part := range content.Elements() {
		b.WriteString(part.Object().Get("text").Text(0))
		hasImage = hasImage || strings.HasSuffix(strings.ToLower(part.Object().Get("type").Text(0)), "image")
	}
	if hasImage {
		return orImage(b.String())
	}
	return b.String()
}

// orImage is the text of a message with an image.
func orImage(text string) string {
	if strings.TrimSpace(text) == "" {
		return "[image]"
	}
	return text
}

// lineKind is the kind of a record.
type lineKind uint8

const (
	kindUnknown          lineKind = iota // not read here, or another thread's
	kindSessionMeta                      // the first record of a rollout
	kindTurnContext                      // the settings that a turn runs with
	kindSettingsApplied                  // the settings that the next turn would run with
	kindNamed                            // the user gave the thread a name
	kindGoal                             // the thread has a goal, or its goal has changed
	kindTurnStarted                      // a turn began
	kindTurnCompleted                    // a turn ended by itself, with or without an error
	kindTurnAborted                      // a turn was interrupted
	kindTurnError                        // the agent reported an error, which ends the turn
	kindReviewEntered                    // a review began
	kindReviewExited                     // a review ended
	kindContextCompacted                 // the model's context was replaced
	kindCompactionShown                  // a message to the user about it
	kindTurnsRolledBack                  // the user took back the newest turns
	kindTokenCount                       // the thread's token count so far
	kindTokenUsage                       // the tokens of one answer (0.160 and later)
	kindUserText                         // the user's words
	kindInjectedText                     // the agent's words under the user's name (0.42)
	kindAgentText                        // the model's words
	kindReasoning                        // the model's reasoning
	kindAgentItem                        // the model's words once more, as an item of the conversation with the model
	kindOtherItem                        // another item of it: instructions, a command that the user typed
	kindToolCall                         // a tool call that has a result
	kindServerToolCall                   // a tool call of any other kind, which may have none: the model's server may run it
	kindToolResult                       // the result of a tool call
	kindOtherEvent                       // any other event; it may contain the end of a tool call
)

// eventKind is the kind of an event (event_msg). Only legacy files have the events from entered_review_mode on: exec wrote such files up to
// 0.147, the terminal interface up to 0.130 (SEEN 0.42–0.147), and a newer version that resumes a legacy file continues it so (SEEN 0.169).
// Paginated files have an item_completed event instead; see [itemKind].
func (r *rolloutLine) eventKind(thread string) lineKind {
	switch r.typeName() {
	case "":
		return kindUnknown
	case "item_completed":
		r.body, r.item = r.Get("item").Object(), true
		return r.forThread(itemKind(r.body.Get("type").Text(0)), thread)
	case "thread_settings_applied":
		return r.forThread(kindSettingsApplied, thread)
	case "thread_name_updated":
		return r.forThread(kindNamed, thread)
	case "thread_goal_updated":
		r.body = r.Get("goal").Object()
		if r.body.Get("threadId").Text(0) == thread {
			return kindGoal
		}
		return kindUnknown
	case "task_started":
		return kindTurnStarted
	case "task_complete":
		return kindTurnCompleted
	case "turn_aborted":
		return kindTurnAborted
	case "error":
		return kindTurnError
	case "thread_rolled_back":
		return kindTurnsRolledBack
	case "token_count":
		return kindTokenCount
	case "entered_review_mode":
		return kindReviewEntered
	case "exited_review_mode":
		return kindReviewExited
	case "context_compacted":
		return kindCompactionShown
	case "user_message":
		if kind := r.Get("kind").Text(0); kind != "" && kind != "plain" {
			return kindInjectedText // 0.42 also records the agent's own words as the user's, with another kind
		}
		return kindUserText
	case "agent_message":
		return kindAgentText
	case "agent_reasoning":
		return kindReasoning
	}
	return kindOtherEvent
}

// itemKind is the kind of an item_completed event in a paginated file (SEEN 0.147 and later) by the type of its item.
func itemKind(name string) lineKind {
	switch name {
	case "EnteredReviewMode":
		return kindReviewEntered
	case "ExitedReviewMode":
		return kindReviewExited
	case "ContextCompaction":
		return kindCompactionShown
	case "UserMessage":
		return kindUserText
	case "AgentMessage", "Plan":
		return kindAgentText
	}
	return kindOtherEvent
}

// responseItemKind is the kind of an item of the conversation with the model (response_item).
func (r *rolloutLine) responseItemKind() lineKind {
	r.item = true
	switch name := r.typeName(); {
	case name == "reasoning":
		return kindReasoning
	case name == "function_call", name == "custom_tool_call":
		return kindToolCall
	case strings.HasSuffix(name, "_call"):
		return kindServerToolCall
	case strings.HasSuffix(name, "_output"):
		return kindToolResult
	case name == "message" && r.Get("role").Text(0) == "assistant":
		return kindAgentItem
	}
	return kindOtherItem
}

// forThread is the kind of a record that may belong to another thread, and [kindUnknown] if it does. The parent of a review gets a copy of
// the reviewer's records, which name the reviewer's thread (SEEN 0.169).
func (r *rolloutLine) forThread(kind lineKind, thread string) lineKind {
	if of := r.Get("thread_id").Text(0); of != "" && of != thread {
		return kindUnknown
	}
	return kind
}

// isUsersGoal reports whether a record says that the user gave the thread a goal, in the place of a prompt. The model sets a goal within a
// turn, and what becomes of a goal is a newer record of it.
func (r *rolloutLine) isUsersGoal() bool {
	return r.Get("turnId").Text(0) == "" && r.body.Get("createdAt").Int() == r.body.Get("updatedAt").Int()
}

// FromModel reports whether a record is an item that the model wrote in the conversation with it.
func (l lineKind) FromModel() bool {
	return l == kindAgentItem || l == kindReasoning || l == kindToolCall || l == kindServerToolCall
}

// conversationPart is the part of a record in the conversation.
type conversationPart uint8

const (
	partNone   conversationPart = iota
	partInput                   // the user's words or a tool's output: an answer of the model is due
	partOutput                  // an answer of the model
	partCall                    // a tool call of the model
)

// part is the record's part in the conversation. The agent's additions to the conversation are user messages too.
func (l lineKind) part() conversationPart {
	switch l {
	case kindUserText, kindInjectedText, kindToolResult:
		return partInput
	case kindAgentText, kindAgentItem, kindContextCompacted, kindCompactionShown, kindReviewExited:
		return partOutput
	case kindToolCall, kindServerToolCall, kindReasoning:
		return partCall
	}
	return partNone
}

// isThreadID reports whether s is a UUID in lower case.
func isThreadID(s string) bool { return storage.IsUUID(s, false) }

// threadCreated is the time at which the thread with this ID, or with an ID that begins like this, was created. Codex's IDs are UUIDs of
// version 7, which begin with 48 bits of milliseconds since 1970. It is not ok for an ID of another version, or for fewer digits.
func threadCreated(id string) (time.Time, bool) {
	digits := strings.ReplaceAll(id, "-", "")
	if len(digits) < 12 || len(digits) > 12 && digits[12] != '7' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(digits[:12], 16, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}

// parseThreadID returns the thread ID in a value, "" if there is none.
func parseThreadID(v storage.Value) string {
	if id := v.Text(0); isThreadID(id) {
		return id
	}
	return ""
}

const (
	uuidLen       = storage.UUIDLen
	stampLen      = len("2026-11-20T19-09-05")
	plainExt      = ".jsonl"
	compressedExt = ".jsonl.zst"
	lockExt       = ".lock"
)

// rolloutName is a parsed file name: rollout-<local time>-<thread>.jsonl, with .zst appended if it is compressed. Files that begin
// with an edited prompt have _<segment> after the thread.
type rolloutName struct{ id, segment string }

func parseRolloutName(name string) (rolloutName, bool) {
	rest, ok := strings.CutPrefix(name, "rollout-")
	if !ok || len(rest) < stampLen+1+uuidLen || rest[stampLen] != '-' {
		return rolloutName{}, false
	}
	rest = rest[stampLen+1:]
	id, rest := rest[:uuidLen], rest[uuidLen:]
	segment := ""
	if more, ok := strings.CutPrefix(rest, "_"); ok && len(more) > uuidLen && isThreadID(more[:uuidLen]) {
		segment, rest = more[:uuidLen], more[uuidLen:]
	}
	if !isThreadID(id) || rest != plainExt && rest != compressedExt {
		return rolloutName{}, false
	}
	return rolloutName{id: id, segment: segment}, true
}

// parseLockName returns the thread that a lock file is named after.
func parseLockName(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, lockExt)
	return id, ok && isThreadID(id)
}

// dayRange is a range of date directories ("2026/11/20"), both ends included. The zero value is all of them.
type dayRange struct{ from, to string }

// daysOfID returns the directories that may contain a thread of this ID. Directories are named by local time, which is never more
// than a day away from UTC, wherever the machine was.
func daysOfID(id string) (dayRange, bool) {
	t, ok := threadCreated(id)
	if !ok {
		return dayRange{}, false
	}
	return dayRange{t.AddDate(0, 0, -1).Format(dayLayout), t.AddDate(0, 0, 1).Format(dayLayout)}, true
}

// dayLayout is the format of a date directory below [sessionsDir].
const dayLayout = "2006/01/02"

// contains reports whether a directory such as "2026", "2026/11" or "2026/11/20" is in the range or above a part of it.
func (d dayRange) contains(folder string) bool {
	n := len(folder)
	return d == dayRange{} || n <= len(d.from) && folder >= d.from[:n] && folder <= d.to[:n]
}

// Directories of a home.
const (
	sessionsDir = "sessions"
	archiveDir  = "archived_sessions"
	locksDir    = "thread-writer-locks"
	// worktreesDir is where Codex makes worktrees for threads (SEEN 0.169).
	worktreesDir = "worktrees"
)

func isArchived(path string) bool { return filepath.Base(filepath.Dir(path)) == archiveDir }

// knownKinds are the kinds of records that Codex writes, those of events and of the conversation's items with what they are (READ
// 0.169, and SEEN in older versions). Many say nothing that this package reads.
const knownKinds = " session_meta turn_context world_state compacted token_usage_record dynamic_tools_updated" +
	" inter_agent_communication inter_agent_communication_metadata security_risk_score realtime_item" +
	eventKinds + itemKinds

const itemKinds = " response_item/message response_item/agent_message response_item/reasoning response_item/additional_tools" +
	" response_item/function_call response_item/function_call_output response_item/custom_tool_call" +
	" response_item/custom_tool_call_output response_item/local_shell_call response_item/web_search_call" +
	" response_item/tool_search_call response_item/tool_search_output response_item/image_generation_call" +
	" response_item/ghost_snapshot response_item/compaction response_item/compaction_trigger" +
	" response_item/context_compaction response_item/configuration_update response_item/other "

// kindName returns the type of a record; of an event or an item with its own type, as in event_msg/task_started.
func kindName(record storage.Object) string {
	kind := storage.Kind(record.Get("type"))
	if kind == "event_msg" || kind == "response_item" {
		kind += "/" + storage.Kind(record.Get("payload").Object().Get("type"))
	}
	return kind
}
