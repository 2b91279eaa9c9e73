package copilot

import (
	"time"

	"agentctl/discover/storage"
)

// event is one record of a session's events.jsonl. Its parts are valid as long as the line that it was read from.
type event struct {
	Type string
	// Agent is the sub-agent that the record is about, "" for the session itself. Sub-agents have their records in the session's file.
	Agent storage.Value
	// ID is the record's own, Parent that of the record before it by the same writer: of two processes that write to one file, each has
	// a chain of its own.
	ID, Parent storage.Value
	At         storage.Value
	Data       storage.Object
}

// parseEvent parses a line. ok is false if it is damaged.
func parseEvent(line []byte) (e event, ok bool) {
	ok = storage.Object(line).Scan(func(key []byte, v storage.Value) int {
		switch string(key) {
		case "type":
			e.Type = storage.Kind(v)
		case "agentId":
			e.Agent = v
		case "id":
			e.ID = v
		case "parentId":
			e.Parent = v
		case "timestamp":
			e.At = v
		case "data":
			e.Data = v.Object()
		}
		return 0
	})
	return e, ok
}

func typeOf(o storage.Object) string { return storage.Kind(o.Get("type")) }

func (e *event) time() time.Time { return e.At.Time() }

// ofSubagent reports whether the record is about a sub-agent's turn.
func (e *event) ofSubagent() bool { return e.Agent.Text(0) != "" }

// idLimit is the most characters of an ID that are kept.
const idLimit = 100

// fromUser reports whether a user.message is what the user typed: neither a sub-agent's task nor a text of a skill or a sub-agent.
func (e *event) fromUser() bool {
	return e.Type == userMessage && !e.ofSubagent() && e.Data.Get("source").Text(0) == ""
}

// Types of records that decide something.
const (
	sessionStart    = "session.start"
	sessionResume   = "session.resume"
	sessionShutdown = "session.shutdown"
	sessionError    = "session.error"
	sessionInfo     = "session.info"
	modelChange     = "session.model_change"
	contextChanged  = "session.context_changed"
	usageRecord     = "session.usage_record"
	compacted       = "session.compaction_complete"
	userMessage     = "user.message"
	turnStart       = "assistant.turn_start"
	turnEnd         = "assistant.turn_end"
	assistantText   = "assistant.message"
	toolStart       = "tool.execution_start"
	toolComplete    = "tool.execution_complete"
	userTool        = "tool.user_requested"
	permissionAsked = "permission.requested"
	permissionGiven = "permission.completed"
	aborted         = "abort"
	subagentStarted = "subagent.started"
	subagentDone    = "subagent.completed"
	subagentFailed  = "subagent.failed"
	notification    = "system.notification"
)

// knownTypes are all types that 1.0.12 to 1.0.102 were seen to write. Those of model calls around a compaction are not in the agent's
// own schema.
const knownTypes = " " + sessionStart + " " + sessionResume + " " + sessionShutdown + " " + sessionError + " " + sessionInfo + " " +
	modelChange + " " + contextChanged + " " + usageRecord + " " + compacted + " " + userMessage + " " + turnStart + " " + turnEnd + " " +
	assistantText + " " + toolStart + " " + toolComplete + " " + userTool + " " + permissionAsked + " " + permissionGiven + " " + aborted + " " +
	subagentStarted + " " + subagentDone + " " + subagentFailed + " " + notification + " " +
	"session.compaction_start session.warning session.mode_changed session.mode_notice_delivered session.permissions_changed " +
	"session.usage_checkpoint subagent.configured system.message human_response.recorded hook.start hook.end skill.invoked " +
	"model.turn_started model.model_call_started model.model_call_success model.message model.response model.turn_ended " +
	"model.messages_snapshot "
