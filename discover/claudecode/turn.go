package claudecode

import (
	"slices"
	"strings"

	"agentctl/discover"
)

// turnReader determines the state of the newest turn from the conversation records, newest first. Of sidechain records, only
// those of the sub-agent in question may be given.
//
// Most records outside of a turn are ignored. But the output of a local command, and a message that Claude Code wrote
// itself after a resume, prove that no turn was running: a turn that looks open before them was interrupted. The output of
// a "!" command is a prompt that the model answers, unless a caveat precedes it: then it is such an output.
type turnReader struct {
	state   discover.Turn
	decided bool

	ended   bool // a turn_duration was read: the turn has ended, how is not known yet
	stopped bool // a record was read that proves that no turn was running
	shell   bool // the newest prompt is a "!" command, and the record before it was not read yet
	// afterFirst: what comes next is before the conversation's first record in the file. newest is the newest time so far. A
	// TUI's first write may begin with any of the answers to the first prompt and of the tools' results (SEEN 2.1.197), so a
	// record there that is later than all others is the newest one.
	afterFirst bool
	newest     string
	// prompt is the UUID of the prompt that seems to be the newest record. If the next one follows it, it is stored again here.
	prompt string
	// Pending has the tool calls of the newest message without a result, newest first; answered those with one. A result belongs
	// to a call before it: some models number their calls anew in each answer.
	Pending       []pendingCall
	answered      map[string]bool
	message       string // the ID of the newest message
	callsComplete bool   // all its calls were read
}

// complete reports whether older records cannot change anything.
func (s *turnReader) complete() bool {
	return s.decided && s.callsComplete && !s.afterFirst && !s.shell && s.prompt == ""
}

func (s *turnReader) add(l *rawRecord) {
	at := l.Timestamp.Text(0)
	if s.afterFirst {
		if !l.IsMessage() && l.Subtype != "turn_duration" {
			return
		}
		if s.afterFirst = false; at > s.newest && !hasBlock(l.Content, "tool_result") {
			*s = turnReader{answered: s.answered, state: discover.Turn{Began: s.state.Began}}
		}
	}
	s.newest = max(s.newest, at)
	if l.IsMessage() && s.prompt != "" && l.UUID.Text(0) != s.prompt {
		if l.ParentUUID.Text(0) == s.prompt {
			*s = turnReader{answered: s.answered, newest: s.newest}
		}
		s.prompt = ""
	}
	if s.shell && s.decided {
		if s.shell = false; l.isCaveat() {
			*s = turnReader{stopped: true, ended: s.ended, state: discover.Turn{Began: s.state.Began}}
		}
	}
	switch l.Type {
	case "system":
		s.ended = s.ended || !s.decided && l.Subtype == "turn_duration"
		s.stopped = s.stopped || !s.decided && l.Subtype == "local_command"
	case "assistant":
		s.assistant(l)
	case "user":
		s.user(l)
	}
}

// addDamaged takes a damaged record. It may have been the one that decides, so the state is unknown, unless the turn is
// known to have ended.
func (s *turnReader) addDamaged() {
	if !s.decided && !s.ended && !s.stopped {
		s.decide(discover.TurnUnknown)
	}
}

func (s *turnReader) assistant(l *rawRecord) {
	fromModel := !l.IsAPIErrorMessage && !l.synthetic()
	if fromModel && !s.decided && l.ends() { // as most do; the content does not matter
		s.decide(discover.TurnDone)
		return
	}
	switch {
	case s.decided:
		s.addCalls(l)
	case l.IsAPIErrorMessage:
		s.decide(discover.TurnFailed)
		s.state.Error = strings.TrimSpace(textOf(l.Content, 0))
	case !fromModel:
		s.stopped = true
	case l.StopReason == "" && hasBlock(l.Content, "text") && !hasBlock(l.Content, "tool_use"):
		s.decide(discover.TurnUnknown) // it may be all of the answer: messages are written before their stop reason is known, also by gateways
	default:
		s.open()
		s.addCalls(l)
	}
}

// ends reports whether the model ended its turn with this message.
func (m *apiMessage) ends() bool {
	switch m.StopReason {
	case "end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded":
		return true
	}
	return false
}

func (s *turnReader) user(l *rawRecord) {
	if l.IsMeta && !fromPeer(l.Origin.Object()) || l.IsCompactSummary || l.IsTranscriptOnly {
		return
	}
	text := strings.TrimSpace(textOf(l.Content, textStartLimit))
	result := false
	for _, b := range blocks(l.Content) {
		if b.Type != "tool_result" {
			continue
		}
		if s.answered == nil {
			s.answered = map[string]bool{}
		}
		result, s.answered[b.ToolUseID] = true, true
		s.Pending = slices.DeleteFunc(s.Pending, func(c pendingCall) bool { return c.ID == b.ToolUseID && c.at <= l.Timestamp.Text(0) })
	}
	if !result && s.state.Began.IsZero() && !beginsWith(text, interruptedPrefix, "<local-command-") && !isShellOutput(text) {
		s.state.Began = l.Timestamp.Time()
	}
	switch {
	case s.decided:
		s.callsComplete = s.callsComplete || !result
	case strings.HasPrefix(text, interruptedPrefix):
		s.decide(discover.TurnInterrupted)
	case isShellOutput(text):
		s.shell = true
	case beginsWith(text, "<local-command-stdout>", "<local-command-stderr>"):
		s.stopped = true
	case strings.HasPrefix(text, "<local-command-"), s.stopped && !s.shell && beginsWith(text, "<command-name>", "<command-message>", "<bash-input>"):
	default:
		s.open()
		if s.callsComplete = s.callsComplete || !result; !result {
			s.prompt = l.UUID.Text(0)
			s.state.Prompt, _ = promptOf(l)
		}
	}
}

// textStartLimit is how many characters show what kind of text a user record has.
const textStartLimit = 100

func isShellOutput(text string) bool { return beginsWith(text, "<bash-stdout>", "<bash-stderr>") }

func beginsWith(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// isCaveat reports whether a record is the note that the model is not to answer what follows: the output of most slash
// commands, and of a "!" command up to 2.1.112, or where the settings say so or it was interrupted (SEEN 2.1.112, 2.1.197,
// 2.1.330).
func (l *rawRecord) isCaveat() bool {
	text := strings.TrimSpace(textOf(l.Content, textStartLimit))
	return l.Type == "user" && l.IsMeta && beginsWith(text, "<local-command-caveat>", "Caveat: ")
}

// open decides for a turn without an end of its own.
func (s *turnReader) open() {
	switch {
	case s.ended:
		s.decide(discover.TurnDone)
	case s.stopped:
		s.decide(discover.TurnInterrupted)
	default:
		s.state.State, s.decided = discover.TurnOpen, true
	}
}

func (s *turnReader) decide(state discover.TurnState) {
	s.state.State, s.decided, s.callsComplete = state, true, true
}

// addCalls adds the tool calls of the newest message. A message with several calls is several records.
func (s *turnReader) addCalls(l *rawRecord) {
	if s.message == "" {
		s.message = l.ID.Text(0)
	}
	if s.callsComplete = s.callsComplete || l.ID.Text(0) != s.message; s.callsComplete {
		return
	}
	for _, b := range blocks(l.Content) {
		if b.Type == "tool_use" && !s.answered[b.ID] {
			s.Pending = append(s.Pending, pendingCall{ID: b.ID, Name: b.Name, WaitingOn: waitingOn(b), at: l.Timestamp.Text(0)})
		}
	}
}

// Result returns the state of the turn. whole says that the transcript was read from its beginning.
func (s *turnReader) Result(whole bool) discover.Turn {
	switch {
	case s.decided:
	case s.ended:
		s.state.State = discover.TurnDone
	case whole:
		s.state.State = discover.TurnNone
	}
	if len(s.Pending) > 0 && s.state.State == discover.TurnOpen {
		var tools []string
		for _, call := range slices.Backward(s.Pending) {
			tools = append(tools, call.Name)
		}
		s.state.Detail = "tool: " + strings.Join(tools, ", ")
		s.state.OpenCall = s.Pending[0].WaitingOn
	}
	if s.state.State != discover.TurnOpen {
		s.state.Prompt = ""
	}
	return s.state
}
