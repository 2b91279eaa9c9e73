package claudecode

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
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

// liveTurn returns what the process itself shows of its turn; nil if only the transcript tells.
func (x *process) liveTurn(ctx context.Context, path string) *discover.Turn {
	source := x.source()
	switch status := x.entry.Status; {
	case status == "busy" && source == "tui" && path != "" && x.readTeam(ctx).hasTerminals():
		return nil // it is busy as long as there are such teammates, whatever they do (SEEN 2.1.332)
	case status == "busy":
		return &discover.Turn{State: discover.TurnOpen}
	case status == "waiting":
		return x.waitingTurn(ctx, path)
	case source == "print" && !x.cmdline.stream: // the process ends with its turn, and is "idle" before the turn begins (2.1.329)
		return &discover.Turn{State: discover.TurnOpen}
	case status == "idle", status == "shell":
		return &discover.Turn{State: discover.TurnDone}
	case source == "tui" && path == "" && x.registered(): // a TUI creates its transcript at the first prompt
		return &discover.Turn{State: discover.TurnNone}
	}
	return nil
}

// waitingTurn returns the turn of a process whose registry entry says "waiting", with the reason in our words. A question
// waits as "permission prompt" (2.1.197) or "input needed" (2.1.329): the pending tool call shows that it is one.
func (x *process) waitingTurn(ctx context.Context, path string) *discover.Turn {
	word := x.entry.WaitingFor
	turn := &discover.Turn{State: discover.TurnWaiting, WaitingFor: word}
	if strings.HasPrefix(word, "approve ") { // with the name of the tool (SEEN 2.1.132; .170 has "permission prompt")
		word = "permission prompt"
	}
	if word != "permission prompt" && word != "input needed" {
		return turn
	}
	tail, err := readTail(ctx, path)
	if question := tail.Turn.Question(); err == nil && question != nil {
		turn.WaitingFor, turn.WaitingOn = "question", question
	} else if word == "permission prompt" {
		turn.WaitingFor = "permission"
		if err == nil {
			turn.WaitingOn = x.permissionCall(ctx, &tail.Turn, path)
		}
	}
	return turn
}

// permissionCall returns the call that the user is asked about in a turn that waits for permission; nil if it may be one of
// several. Calls that run alone are made one after the other, so the first one without a result is asked about. If the only
// pending call is a sub-agent's, the sub-agent's call counts.
func (x *process) permissionCall(ctx context.Context, s *turnReader, path string) *discover.WaitingOn {
	call := s.PermissionCall()
	if call == nil {
		return nil
	}
	if !isSubagentTool(call.Name) {
		return call.WaitingOn
	}
	subagents, _ := x.startedSubagents(ctx, path) // Read reports what cannot be read
	for _, b := range subagents {
		if b.ToolUseID != call.ID {
			continue
		}
		tail, err := readTail(ctx, b.path)
		if call := tail.Turn.PermissionCall(); err == nil && call != nil && !isSubagentTool(call.Name) {
			return call.WaitingOn
		}
	}
	return nil
}

// questionTool is the tool by which the model asks the user questions.
const questionTool = "AskUserQuestion"

// pendingCall is a tool call without a result.
type pendingCall struct {
	ID, Name string
	// WaitingOn is what the user is shown when asked about the call.
	WaitingOn *discover.WaitingOn
	at        string // its time
}

// waitingOn describes the call that a block makes, for the user who is asked about it.
func waitingOn(b block) *discover.WaitingOn {
	input := b.Input.Object()
	path := cmp.Or(input.Get("notebook_path").Text(discover.PathLimit+1), input.Get("file_path").Text(discover.PathLimit+1))
	on := discover.NewWaitingOn(b.Name, callBrief(input), path, storage.Questions(input))
	on.ID = discover.Truncate(b.ID, discover.BriefLimit)
	on.Diff = callDiff(b.Name, input)
	return on
}

// callDiff counts the lines that a call changes; nil for a tool that edits no text, and where the call does not say how many.
func callDiff(tool string, input storage.Object) *discover.Diff {
	switch tool {
	case "Edit", "MultiEdit":
		keys := storage.EditKeys{Old: "old_string", New: "new_string", All: "replace_all"}
		if added, removed, ok := keys.DiffLines(input); ok {
			return discover.NewDiff(added, removed, true)
		}
	case "Write":
		return discover.NewDiff(storage.CountLines(input.Get("content").Text(0)), 0, false)
	}
	return nil
}

// Question returns the pending call by which the model asks the user questions; nil if there is none.
func (s *turnReader) Question() *discover.WaitingOn {
	for _, call := range s.Pending {
		if call.Name == questionTool {
			return call.WaitingOn
		}
	}
	return nil
}

// PermissionCall returns the only pending call that permission can be asked for; nil if there is none, or if there are
// several.
func (s *turnReader) PermissionCall() *pendingCall {
	several := len(s.Pending) > 1
	if len(s.Pending) == 0 || several && slices.ContainsFunc(s.Pending, func(c pendingCall) bool { return !runsAlone(c.Name) }) {
		return nil
	}
	return &s.Pending[len(s.Pending)-1] // the newest call is first
}

// runsAlone reports whether a call of this tool is asked about, and carried out, before the next call of the same message.
// Commands that only read may run in parallel; permission is not asked for them.
func runsAlone(tool string) bool {
	switch tool {
	case "Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "ExitPlanMode":
		return true
	}
	return false
}

// isSubagentTool reports whether a tool starts a sub-agent. Task is the older name of Agent.
func isSubagentTool(name string) bool { return name == "Agent" || name == "Task" }
