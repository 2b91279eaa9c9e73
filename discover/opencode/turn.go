package opencode

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
)

// tail is the last message of a session, with its parts if they tell more about the turn.
type tail struct {
	Last *storedMessage // nil if there is none
	// OpenAnswer is the tail without the messages that the user has sent during an answer which has not ended; nil if there are none. A
	// process that was killed leaves its last answer open forever, so it counts only for the process that writes it.
	OpenAnswer *tail
	// endedBy is the tail without the messages that the user has sent during an answer which has ended the turn: it failed, was aborted, or the
	// user refused a call of it. The agent leaves these messages to the next prompt (SEEN, READ 1.18.33). It is nil if there are none.
	endedBy *tail
	parts   []part
	// active is when the session last changed, by the parts, in milliseconds; 0 if the parts were not read.
	active int64
	// unread: the last message, or a part of it, could not be read.
	unread bool
}

// readTail reads the last message.
func readTail(rows rowReader) (t tail) {
	before := rows.Failures()
	for r := range rows.Newest(cursor{}) {
		last, updated := parseRow(r, r.JSON()), r.Updated
		if last.Role == userRole {
			for row, answer := range answersBefore(rows, r) { // the clock was set back: it is the last one all the same
				last, updated = answer, row.Updated
				break
			}
		}
		if t.Last = &last; last.needsParts() {
			t.readParts(rows, updated)
		} else if last.Role == userRole {
			t.readAnswerBefore(rows, max(last.Created, updated))
		}
		break
	}
	t.unread = rows.Failures() > before
	return t
}

// readAnswerBefore reads the answer before the user's last messages, the newest of which was stored at the given time. It reads only the
// heads of these.
func (t *tail) readAnswerBefore(rows rowReader, stored int64) {
	users := 0
	for r := range rows.Newest(cursor{}) {
		if isUsers(r) {
			if users++; users > maxDelayed {
				return
			}
			continue
		}
		answer := parseRow(r, r.JSON())
		if answer.Role != assistantRole || answer.Completed == 0 && answer.failed || answer.Completed > 0 && answer.Completed < stored {
			return
		}
		before := &tail{Last: &answer}
		if answer.needsParts() {
			before.readParts(rows, r.Updated)
		}
		if answer.Completed == 0 {
			t.OpenAnswer = before
		} else if answer.failed || before.refused() { // the agent goes on only if it is asked again
			t.endedBy = before
		}
		return
	}
}

// needsParts reports whether the parts of the last message tell more about the turn than the message does.
func (s *storedMessage) needsParts() bool {
	return s.Role == assistantRole && !s.failed && (s.Completed == 0 || s.finishReason == finishToolCalls)
}

// readParts reads the parts of the last message, whose row was updated at the given time. A running tool updates only the row of
// its part, which shows that the session is active. A migration gives all rows the same time, which shows nothing (SEEN 1.2.1).
func (t *tail) readParts(rows rowReader, updated int64) {
	for r := range rows.Parts(t.Last.ID) {
		data := r.JSON()
		if data == nil {
			continue
		}
		p := parsePart(data)
		t.parts, t.active = append(t.parts, p), max(t.active, p.Started)
		if r.Updated > updated {
			t.active = max(t.active, r.Updated)
		}
	}
}

// Updated returns when the last message, or a part of it, last changed; zero if that is not known.
func (t *tail) Updated() time.Time {
	if t.Last == nil {
		return time.Time{}
	}
	active := t.active
	if t.OpenAnswer != nil {
		active = max(active, t.OpenAnswer.active)
	}
	if t.endedBy != nil {
		active = max(active, t.endedBy.Last.Completed)
	}
	return fromMillis(max(t.Last.Created, t.Last.Completed, active))
}

// RunningTools returns the tool calls of the last message that have not ended.
func (t *tail) RunningTools() (running []part) {
	if t.Last != nil && t.Last.Completed == 0 && !t.Last.failed {
		for _, p := range t.parts {
			if p.running() {
				running = append(running, p)
			}
		}
	}
	return running
}

// abortedName is the error of a message whose turn the user or a signal ended.
const abortedName = "MessageAbortedError"

// finishToolCalls is the finish reason of a message that ends a step, not the turn.
const finishToolCalls = "tool-calls"

// How the error of a tool call begins if the user refused it, which ends the turn. If the error has the user's feedback, the model
// continues with that (SEEN 1.1.65, 1.18.33).
const (
	rejectedPermission = "The user rejected permission"
	declinedCall       = "The user declined this tool call" // OpenCode 2 (READ 2.0.26)
	dismissedQuestion  = "The user dismissed this question"
	withFeedback       = "with the following feedback"
)

// isRefusal reports whether the error of a tool call says that the user refused it. Early versions put "Error: " before it (SEEN 1.1.65).
func isRefusal(text string) bool {
	text = strings.TrimPrefix(text, "Error: ")
	return strings.HasPrefix(text, rejectedPermission) || strings.HasPrefix(text, declinedCall) || strings.HasPrefix(text, dismissedQuestion)
}

// Turn returns the newest turn, as far as storage shows it. It is unknown if the last message could not be read. It began when the prompt was
// submitted: the ID of an answer's parent, the prompt, contains that time.
func (t *tail) Turn() (turn discover.Turn) {
	if !t.unread {
		turn = t.state()
	}
	if last := t.Last; last != nil && last.Role == userRole {
		turn.Began = fromMillis(last.Created)
	} else if last != nil {
		turn.Began = fromMillis(messageIDTime(last.parentID, last.Created))
	}
	// The agent stores its message before it asks the model, and the first part of that message when the model begins to answer (SEEN 1.1.65,
	// 1.18.33).
	turn.Unanswered = turn.State == discover.TurnOpen && (t.Last.Role == userRole || t.Last.Completed == 0 && len(t.parts) == 0)
	return turn
}

// unansweredPrompt returns the prompt that nothing follows but an empty answer; "" if there is none.
func (t *tail) unansweredPrompt(rows rowReader) string {
	empty := !slices.ContainsFunc(t.parts, func(p part) bool { return p.kind == toolType || !isBlank(p.text) })
	for r := range rows.Newest(cursor{}) {
		if m := parseRow(r, r.JSON()); m.Role == userRole {
			text, _ := words(rows, m.ID)
			return promptText(text)
		} else if m.ID != t.Last.ID || !empty {
			break
		}
	}
	return ""
}

// state derives the turn from the last message and its parts. Earlier messages do not count: what a killed process left open there
// stays open forever.
func (t *tail) state() discover.Turn {
	switch last := t.Last; {
	case last == nil:
		return discover.Turn{State: discover.TurnNone}
	case t.endedBy != nil:
		return t.endedBy.state()
	case last.Role == userRole:
		return discover.Turn{State: discover.TurnOpen, Detail: "model"}
	case last.Role != assistantRole:
		return discover.Turn{}
	case last.failed && last.errName == abortedName:
		return discover.Turn{State: discover.TurnInterrupted}
	case last.failed:
		return discover.Turn{State: discover.TurnFailed, Error: discover.Truncate(cmp.Or(last.errText, last.errName), errorLimit)}
	case last.Completed == 0:
		return t.openTurn()
	case last.finishReason != finishToolCalls:
		return discover.Turn{State: discover.TurnDone}
	case t.refused():
		return discover.Turn{State: discover.TurnInterrupted}
	}
	return discover.Turn{State: discover.TurnOpen, Detail: "model"}
}

// refused reports whether the user refused a tool call of the last message.
func (t *tail) refused() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return isRefusal(p.errText) && !strings.Contains(p.errText, withFeedback) })
}

// openTurn returns a turn that has not ended, by its running tool calls.
func (t *tail) openTurn() discover.Turn {
	turn := discover.Turn{State: discover.TurnOpen, Detail: "model"}
	for _, p := range t.RunningTools() {
		if p.Tool == questionTool {
			return discover.Turn{State: discover.TurnWaiting, WaitingFor: "question", WaitingOn: p.WaitingOn(), OpenCall: p.WaitingOn()}
		}
		turn.Detail, turn.OpenCall = "tool: "+p.Tool, p.WaitingOn()
	}
	return turn
}

// readHead reads the messages up to the first prompt, usually the first part of the first message. prompt is the first text that the user
// wrote, as it is stored, cut to [promptLimit]. hasCopies: the first message was copied into the session, which was created then.
func readHead(rows rowReader, created int64) (prompt string, hasCopies bool) {
	isFirst := true
	for m := range rows.Oldest() {
		if isFirst {
			isFirst, hasCopies = false, m.isCopied(created)
		}
		switch {
		case !isUsers(m):
			continue
		case m.Type != "":
			prompt = v2Words(m.JSON())
		default:
			prompt, _ = words(rows, m.ID)
		}
		if prompt != "" {
			break
		}
	}
	return prompt, hasCopies
}

// HTTP statuses by which a provider refuses a request because of a limit.
const (
	paymentRequired = 402
	tooManyRequests = 429
)

// Quotas returns the limit for which the provider refused the newest request; none otherwise. Only an error that ends the turn is
// stored: 402 is (SEEN 1.1.65, 1.18.33). After 429, OpenCode tries again forever, or until the user aborts it, and stores nothing (SEEN
// both). No reliable source has the time at which the limit resets.
func (t *tail) Quotas() []discover.Quota {
	m := t.Last
	if m == nil || !m.failed || m.errStatus != paymentRequired && m.errStatus != tooManyRequests {
		return nil
	}
	return []discover.Quota{{Reached: true, Text: t.Turn().Error, Time: fromMillis(cmp.Or(m.Completed, m.Created))}}
}

// maxUnreadRows bounds how many messages are searched for an answer to one of the user: the newest ones.
const maxUnreadRows = 200

// isUnread reports whether the model may never get a stored message of the user, which has the part with this ID. inTurn: a process works on
// the session, or waits for the user.
//
// At the beginning of each step of a turn, the agent reads the messages, and stores the answer below the newest one of the user. It leaves
// a message that is stored later to the next prompt: 1.1.65 if the step is the last one (SEEN, READ), 1.18.33 if that step has ended
// too, and the turn is about to (READ).
func isUnread(rows rowReader, part string, inTurn bool) bool {
	answered := map[string]bool{} // the messages of the user that have an answer
	var last *storedMessage       // the newest answer
	isBefore := false             // it began before the message was stored
	found, n := false, 0
	for r := range rows.Newest(cursor{}) {
		m := parseRow(r, r.JSON())
		if n++; n > maxUnreadRows {
			return false
		}
		if m.Role == userRole && !found {
			if answered[m.ID] { // which is the message, or a newer one
				return false
			}
			for p := range rows.Parts(m.ID) {
				found = found || p.ID == part
			}
		}
		if m.Role != assistantRole {
			continue
		}
		if answered[m.parentID] = true; last == nil {
			last, isBefore = &m, found
		}
		if found {
			break
		}
	}
	if !found || !inTurn || last == nil || last.failed {
		return found
	}
	return last.finishReason != finishToolCalls && !(isBefore && last.Completed == 0)
}

// maxDepth is how deep sub-agents of sub-agents are followed.
const maxDepth = 4

// liveTurn returns the stored turn of a session, corrected by what its process shows. If the turn is older than the process, it was another
// process's, and this one shows nothing of it.
func (scan *processScan) liveTurn(p *loggedProcess, s *session, depth int) discover.Turn {
	turn := s.Turn
	isOlder := !turn.Began.IsZero() && !p.StartedBefore(turn.Began)
	if isOlder || turn.State != discover.TurnOpen && turn.State != discover.TurnWaiting {
		return turn
	}
	if last := p.sessions[s.ID]; s.tail.Last != nil {
		switch isCurrent := last.at.After(fromMillis(s.tail.Last.Created)); {
		case isCurrent && last.ended:
			return discover.Turn{State: discover.TurnDone, Detail: "the log says that the turn ended", Began: turn.Began}
		case isCurrent && last.retryError != "":
			turn.Detail = "retrying: " + last.retryError
		}
	}
	tools := s.tail.RunningTools()
	if answer := s.tail.OpenAnswer; answer != nil && p.StartedBefore(fromMillis(answer.Last.Created)) {
		turn, tools = answer.Turn(), answer.RunningTools()
		turn.Began = fromMillis(answer.Last.Created) // the messages since then do not end it
	}
	for _, call := range tools {
		if scan.waitsForPermission(p, s, call) {
			return discover.Turn{
				State: discover.TurnWaiting, WaitingFor: "permission", WaitingOn: call.WaitingOn(), Detail: "tool: " + call.Tool, Began: turn.Began,
			}
		}
		child := p.stored.sessions[call.Child]
		if child == nil || depth == 0 {
			continue
		}
		if t := scan.liveTurn(p, child, depth-1); t.State == discover.TurnWaiting {
			t.Began = turn.Began
			return t
		}
	}
	return turn
}

// waitsForPermission reports whether a tool call waits for permission. A headless run does not ask: it denies. A process that logs its
// requests must have logged one for the call. For other processes, only the silence of the call shows it.
func (scan *processScan) waitsForPermission(p *loggedProcess, s *session, call part) bool {
	if p.mode == modeRun {
		return false
	}
	silent := call.silentTooLong(scan.now)
	if requests, ok := p.history.requests[p.lastLine.run]; ok {
		requested := slices.ContainsFunc(requests, func(l logLine) bool { return l.requests(call) })
		silent = requested && (silent || call.isSilent() && maxSilence(call.Tool) == reportDelay)
	}
	return silent && !scan.toolRuns(p, s, call)
}

// toolRuns reports whether the command of a tool call runs, although the call has not reported so far. It is a child of the agent:
// `/bin/bash -c COMMAND`, or COMMAND if the shell called exec.
func (scan *processScan) toolRuns(p *loggedProcess, s *session, call part) bool {
	if call.Command == "" {
		return false
	}
	for child := range scan.table.Children(p.ID.PID) {
		args, err := child.Args()
		if !child.Alive() || err != nil || !slices.Contains(args, call.Command) && strings.Join(args, " ") != call.Command {
			continue
		}
		if dir, err := child.Cwd(); err == nil && discover.RealPath(dir) == discover.RealPath(s.Dir) {
			return true
		}
	}
	return false
}

// isPermissionRequest reports whether a line of the shared log may be a request for permission, such as
//
//	… message=asking id=per_1fa677ca6001SK5QCYOjgbhRYQ permission=bash patterns="[\"sleep 33\"]"
//
// The line names neither the session nor the tool call, and the user's answer is not logged (READ, SEEN 1.18.33).
func isPermissionRequest(line []byte) bool {
	return bytes.Contains(line, []byte(" message=asking id=per_"))
}

// maxRequests is how many requests of each run are kept, the newest ones.
const maxRequests = 100

// requestLead is how long before the stored start of its tool call a request may be logged: the tool asks while the agent stores the call
// (1 ms SEEN 1.18.33). It is shorter than a user takes to answer, and the model to call the tool again.
const requestLead = 200 * time.Millisecond

// requests reports whether the line, a request for permission, may be for a tool call that has not reported so far.
func (l logLine) requests(call part) bool {
	if call.Started == 0 || l.at.Before(fromMillis(call.Started).Add(-requestLead)) {
		return false
	}
	switch l.permission {
	case "external_directory", "doom_loop": // any call may need one of these
		return true
	case "edit":
		return slices.Contains([]string{"edit", "write", "patch", "multiedit", "apply_patch"}, call.Tool)
	}
	return l.permission == call.Tool
}
