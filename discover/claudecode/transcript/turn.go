package transcript

import (
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// Turn finds the state of the newest turn from the conversation records, given newest first. Of sub-agents'
// records only those of the chain asked for may be given.
//
// Records that are no part of a turn are passed over; but output of a local command, or a message that Claude Code
// wrote itself after a resume, proves that no turn ran any more: a turn that looks open before them was cut. A "!" command
// is either: its output is a prompt that the model answers, unless a caveat precedes it.
type Turn struct {
	state   discover.Turn
	decided bool

	ended   bool // turn_duration was seen: the turn ended, only how is still open
	stopped bool // no turn ran any more
	shell   bool // the newest prompt is a "!" command, and what precedes it has not been seen
	// firstPrompt is the time of a conversation's first prompt: a TUI's first write may put the answer before it, so
	// what stands before it in the file and is newer follows it.
	firstPrompt string
	// answered are the tool calls that have an answer; pending those that have none, newest first.
	answered      map[string]bool
	Pending       []PendingCall
	callsComplete bool // the newest message's tool calls have all been seen
	hasCalls      bool
}

// complete reports whether older records cannot change anything.
func (s *Turn) complete() bool {
	return s.decided && s.callsComplete && s.firstPrompt == "" && !s.shell
}

func (s *Turn) add(l *Line) {
	if s.firstPrompt != "" {
		if !l.IsMessage() && l.Subtype != "turn_duration" {
			return
		}
		if l.Timestamp.Text(0) > s.firstPrompt {
			*s = Turn{state: discover.Turn{Began: s.state.Began}}
		}
		s.firstPrompt = ""
	}
	if s.shell && s.decided {
		if s.shell = false; l.isCaveat() {
			*s = Turn{stopped: true, ended: s.ended, state: discover.Turn{Began: s.state.Began}}
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

// addDamaged takes a damaged record, which may have decided: nothing older does. A turn that is known to be over stays so.
func (s *Turn) addDamaged() {
	if !s.decided && !s.ended && !s.stopped {
		s.decide(discover.TurnUnknown)
	}
}

func (s *Turn) assistant(l *Line) {
	own := !l.IsAPIErrorMessage && !l.synthetic()
	if own && !s.decided && l.ends() { // as most do: the content tells no more
		s.decide(discover.TurnDone)
		return
	}
	switch {
	case s.decided:
		s.addCalls(l)
	case l.IsAPIErrorMessage:
		s.decide(discover.TurnFailed)
		s.state.Error = strings.TrimSpace(textOf(l.Content, 0))
	case !own:
		s.stopped = true
	case l.StopReason == "" && native.ParseVersion(l.Version.Text(0))[0] < 2 && !hasBlock(l.Content, "tool_use"):
		s.decide(discover.TurnUnknown) // 1.x wrote messages before it knew how they end
	default:
		s.open()
		s.addCalls(l)
	}
}

// ends reports whether the model was done with this message.
func (m *apiMessage) ends() bool {
	switch m.StopReason {
	case "end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded":
		return true
	}
	return false
}

func (s *Turn) user(l *Line) {
	if l.IsMeta || l.IsCompactSummary || l.IsTranscriptOnly {
		return
	}
	words := strings.TrimSpace(textOf(l.Content, textStartLimit))
	counts := !s.callsComplete && !s.hasCalls
	result := false
	for _, b := range blocks(l.Content) {
		if b.Type != "tool_result" {
			continue
		}
		if s.answered == nil {
			s.answered = map[string]bool{}
		}
		result, s.answered[b.ToolUseID] = true, counts
	}
	if !result {
		s.setStart(l, words)
	}
	answers := result && counts
	switch {
	case s.decided:
		s.callsComplete = s.callsComplete || !answers
	case strings.HasPrefix(words, interruptedPrefix):
		s.decide(discover.TurnInterrupted)
	case isShellOutput(words):
		s.shell = true
	case isLocalOutput(words):
		s.stopped = true
	case strings.HasPrefix(words, "<local-command-"), s.stopped && !s.shell && isLocalInput(words):
	case answers:
		s.open()
	default:
		s.open()
		s.callsComplete = true
		if l.ParentUUID.Text(0) == "" && !s.ended && !s.stopped {
			s.firstPrompt = l.Timestamp.Text(0)
		}
	}
}

// setStart notes when the newest prompt was given.
func (s *Turn) setStart(l *Line, words string) {
	if s.state.Began.IsZero() && !beginsWith(words, interruptedPrefix, "<local-command-") && !isShellOutput(words) {
		s.state.Began = l.Timestamp.Time()
	}
}

// textStartLimit is how many characters of a user record tell what sort it is.
const textStartLimit = 100

// isLocalOutput: what a slash command or a "!" command printed.
func isLocalOutput(words string) bool {
	return isShellOutput(words) || beginsWith(words, "<local-command-stdout>", "<local-command-stderr>")
}

func isShellOutput(words string) bool { return beginsWith(words, "<bash-stdout>", "<bash-stderr>") }

func isLocalInput(words string) bool {
	return beginsWith(words, "<command-name>", "<command-message>", "<bash-input>")
}

func beginsWith(words string, any ...string) bool {
	return slices.ContainsFunc(any, func(begin string) bool { return strings.HasPrefix(words, begin) })
}

// isCaveat tells the note that precedes what the model is not to answer: the output of most slash commands, and of a "!" command
// up to 2.1.112, or where the settings say so or it did not run to its end (SEEN 2.1.112, 2.1.197, 2.1.330).
func (l *Line) isCaveat() bool {
	words := strings.TrimSpace(textOf(l.Content, textStartLimit))
	return l.Type == "user" && l.IsMeta && beginsWith(words, "<local-command-caveat>", "Caveat: ")
}

// open decides for a turn that has no end of its own.
func (s *Turn) open() {
	switch {
	case s.ended:
		s.decide(discover.TurnDone)
	case s.stopped:
		s.decide(discover.TurnInterrupted)
	default:
		s.state.State, s.decided = discover.TurnOpen, true
	}
}

func (s *Turn) decide(state discover.TurnState) {
	s.state.State, s.decided, s.callsComplete = state, true, true
}

// addCalls notes the tool calls of the newest message that have no answer. A message of several calls is several
// records.
func (s *Turn) addCalls(l *Line) {
	if s.callsComplete {
		return
	}
	for _, b := range blocks(l.Content) {
		if b.Type == "tool_use" {
			s.hasCalls = true
			if !s.answered[b.ID] {
				s.Pending = append(s.Pending, PendingCall{b.ID, b.Name, waitingOn(b)})
			}
		}
	}
}

// Result is the verdict; whole tells whether the scan saw the conversation's beginning.
func (s *Turn) Result(whole bool) discover.Turn {
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
	}
	return s.state
}
