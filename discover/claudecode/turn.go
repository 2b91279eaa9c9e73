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
// those of the sub-agent in question may be given. That the user is asked is not recorded there, but in the registry of the
// processes: see [process.liveTurn].
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
func (t *turnReader) complete() bool {
	return t.decided && t.callsComplete && !t.afterFirst && !t.shell && t.prompt == ""
}

func (t *turnReader) add(line *rawLine) {
	at := line.Timestamp.Text(0)
	if t.afterFirst {
		if !line.IsMessage() && line.Subtype != "turn_duration" {
			return
		}
		if t.afterFirst = false; at > t.newest && !hasBlock(line.Content, "tool_result") {
			*t = turnReader{answered: t.answered, state: discover.Turn{Began: t.state.Began}}
		}
	}
	t.newest = max(t.newest, at)
	if line.IsMessage() && t.prompt != "" && line.UUID.Text(0) != t.prompt {
		if line.ParentUUID.Text(0) == t.prompt {
			*t = turnReader{answered: t.answered, newest: t.newest}
		}
		t.prompt = ""
	}
	if t.shell && t.decided {
		if t.shell = false; line.isCaveat() {
			*t = turnReader{stopped: true, ended: t.ended, state: discover.Turn{Began: t.state.Began}}
		}
	}
	switch line.Type {
	case "system":
		t.ended = t.ended || !t.decided && line.Subtype == "turn_duration"
		t.stopped = t.stopped || !t.decided && line.Subtype == "local_command"
	case "assistant":
		t.assistant(line)
	case "user":
		t.user(line)
	}
}

// addDamaged takes a damaged record. It may have been the one that decides, so the state is unknown, unless the turn is
// known to have ended.
func (t *turnReader) addDamaged() {
	if !t.decided && !t.ended && !t.stopped {
		t.decide(discover.TurnUnknown)
	}
}

func (t *turnReader) assistant(line *rawLine) {
	fromModel := !line.IsAPIErrorMessage && !line.synthetic()
	if fromModel && !t.decided && line.ends() { // as most do; the content does not matter
		t.decide(discover.TurnDone)
		return
	}
	switch {
	case t.decided:
		t.addCalls(line)
	case line.IsAPIErrorMessage:
		t.decide(discover.TurnFailed)
		t.state.Error = strings.TrimSpace(textOf(line.Content, 0))
	case !fromModel:
		t.stopped = true
	case line.StopReason == "" && hasBlock(line.Content, "text") && !hasBlock(line.Content, "tool_use"):
		t.decide(discover.TurnUnknown) // it may be all of the answer: messages are written before their stop reason is known, also by gateways
	default:
		t.open()
		t.addCalls(line)
	}
}

// ends reports whether the model ended its turn with this message.
func (a *apiMessage) ends() bool {
	switch a.StopReason {
	case "end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded":
		return true
	}
	return false
}

func (t *turnReader) user(line *rawLine) {
	if line.IsMeta && !fromPeer(line.Origin.Object()) || line.IsCompactSummary || line.IsTranscriptOnly {
		return
	}
	text := strings.TrimSpace(textOf(line.Content, textStartLimit))
	result := false
	for _, b := range blocks(line.Content) {
		if b.Type != "tool_result" {
			continue
		}
		if t.answered == nil {
			t.answered = map[string]bool{}
		}
		result, t.answered[b.ToolUseID] = true, true
		t.Pending = slices.DeleteFunc(t.Pending, func(c pendingCall) bool { return c.ID == b.ToolUseID && c.at <= line.Timestamp.Text(0) })
	}
	if !result && t.state.Began.IsZero() && !beginsWith(text, interruptedPrefix, "<local-command-") && !isShellOutput(text) {
		t.state.Began = line.Timestamp.Time()
	}
	switch {
	case t.decided:
		t.callsComplete = t.callsComplete || !result
	case strings.HasPrefix(text, interruptedPrefix):
		t.decide(discover.TurnInterrupted)
	case isShellOutput(text):
		t.shell = true
	case beginsWith(text, "<local-command-stdout>", "<local-command-stderr>"):
		t.stopped = true
	case strings.HasPrefix(text, "<local-command-"), t.stopped && !t.shell && beginsWith(text, "<command-name>", "<command-message>", "<bash-input>"):
	default:
		t.open()
		if t.callsComplete = t.callsComplete || !result; !result {
			t.prompt = line.UUID.Text(0)
			t.state.Prompt, _ = promptOf(line)
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
func (r *rawLine) isCaveat() bool {
	text := strings.TrimSpace(textOf(r.Content, textStartLimit))
	return r.Type == "user" && r.IsMeta && beginsWith(text, "<local-command-caveat>", "Caveat: ")
}

// open decides for a turn without an end of its own.
func (t *turnReader) open() {
	switch {
	case t.ended:
		t.decide(discover.TurnDone)
	case t.stopped:
		t.decide(discover.TurnInterrupted)
	default:
		t.state.State, t.decided = discover.TurnOpen, true
	}
}

func (t *turnReader) decide(state discover.TurnState) {
	t.state.State, t.decided, t.callsComplete = state, true, true
}

// addCalls adds the tool calls of the newest message. A message with several calls is several records.
func (t *turnReader) addCalls(line *rawLine) {
	if t.message == "" {
		t.message = line.ID.Text(0)
	}
	if t.callsComplete = t.callsComplete || line.ID.Text(0) != t.message; t.callsComplete {
		return
	}
	for _, b := range blocks(line.Content) {
		if b.Type == "tool_use" && !t.answered[b.ID] {
			t.Pending = append(t.Pending, pendingCall{ID: b.ID, Name: b.Name, WaitingOn: waitingOn(b), at: line.Timestamp.Text(0)})
		}
	}
}

// Result returns the state of the turn. whole says that the transcript was read from its beginning.
func (t *turnReader) Result(whole bool) discover.Turn {
	switch {
	case t.decided:
	case t.ended:
		t.state.State = discover.TurnDone
	case whole:
		t.state.State = discover.TurnNone
	}
	if len(t.Pending) > 0 && t.state.State == discover.TurnOpen {
		var tools []string
		for _, call := range slices.Backward(t.Pending) {
			tools = append(tools, call.Name)
		}
		t.state.Detail = "tool: " + strings.Join(tools, ", ")
		t.state.OpenCall = t.Pending[0].WaitingOn
	}
	if t.state.State != discover.TurnOpen {
		t.state.Prompt = ""
	}
	return t.state
}

// liveTurn returns what the process itself shows of its turn; nil if only the transcript tells.
func (p *process) liveTurn(ctx context.Context, path string) *discover.Turn {
	source := p.source()
	switch status := p.entry.Status; {
	case status == "busy" && source == "tui" && path != "" && p.readTeam(ctx).hasTerminals():
		return nil // it is busy as long as there are such teammates, whatever they do (SEEN 2.1.332)
	case status == "busy":
		return &discover.Turn{State: discover.TurnOpen}
	case status == "waiting":
		return p.waitingTurn(ctx, path)
	case source == "print" && !p.cmdline.stream: // the process ends with its turn, and is "idle" before the turn begins (2.1.329)
		return &discover.Turn{State: discover.TurnOpen}
	case status == "idle", status == "shell":
		return &discover.Turn{State: discover.TurnDone}
	case source == "tui" && path == "" && p.registered(): // a TUI creates its transcript at the first prompt
		return &discover.Turn{State: discover.TurnNone}
	}
	return nil
}

// waitingTurn returns the turn of a process whose registry entry says "waiting", with the reason in our words. A question
// waits as "permission prompt" (2.1.197) or "input needed" (2.1.329): the pending tool call shows that it is one.
func (p *process) waitingTurn(ctx context.Context, path string) *discover.Turn {
	word := p.entry.WaitingFor
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
			turn.WaitingOn = p.permissionCall(ctx, &tail.Turn, path)
		}
	}
	return turn
}

// permissionCall returns the call that the user is asked to permit in the session or, if that waits for a sub-agent, in the sub-agent; nil if
// the transcripts do not tell. The registry does not say who asks.
func (p *process) permissionCall(ctx context.Context, s *turnReader, path string) *discover.WaitingOn {
	call := s.PermissionCall()
	if call == nil {
		return nil
	}
	subagents, _ := p.startedSubagents(ctx, path) // Read reports what cannot be read
	if !isSubagentTool(call.Name) {
		if slices.ContainsFunc(subagents, func(s storedSubagent) bool { return p.mayAsk(ctx, s) }) {
			return nil
		}
		return call.WaitingOn
	}
	for _, subagent := range subagents {
		if subagent.ToolUseID != call.ID {
			continue
		}
		tail, err := readTail(ctx, subagent.path)
		if call := tail.Turn.PermissionCall(); err == nil && call != nil && !isSubagentTool(call.Name) {
			return call.WaitingOn
		}
	}
	return nil
}

// mayAsk reports whether a sub-agent in the background has a call without a result: the session's own call may run while the user is asked
// about that one.
func (p *process) mayAsk(ctx context.Context, s storedSubagent) bool {
	if !mayBeActive(s.path, s.subagentMeta) && !s.isTeammate() {
		return false
	}
	turn, open := p.openTurn(ctx, s.path)
	return open && len(turn.Pending) > 0
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
func (t *turnReader) Question() *discover.WaitingOn {
	for _, call := range t.Pending {
		if call.Name == questionTool {
			return call.WaitingOn
		}
	}
	return nil
}

// PermissionCall returns the call that the user is asked to permit; nil if the newest message does not tell. The user is asked about calls that
// run alone one after the other: about the oldest one that is pending. Others run at once: if there are several, which one waits is not known.
func (t *turnReader) PermissionCall() *pendingCall {
	several := len(t.Pending) > 1
	if len(t.Pending) == 0 || several && slices.ContainsFunc(t.Pending, func(c pendingCall) bool { return !runsAlone(c.Name) }) {
		return nil
	}
	return &t.Pending[len(t.Pending)-1] // the newest call is first
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
