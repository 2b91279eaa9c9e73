package claudecode

import (
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// turnScan finds the state of the newest turn from the conversation records, given newest first. Of sub-agents'
// records only those of the chain asked for may be given.
//
// Records that are no part of a turn are passed over; but output of a local command, or a message that Claude Code
// wrote itself after a resume, proves that no turn ran any more: a turn that looks open before them was cut. A "!" command
// is either: its output is a prompt that the model answers, unless a caveat precedes it.
type turnScan struct {
	turn    discover.Turn
	decided bool

	over    bool // turn_duration was seen: the turn ended, only how is still open
	settled bool // no turn ran any more
	shell   bool // the newest prompt is a "!" command, and what precedes it has not been seen
	// root is the time of a conversation's first prompt: a TUI's first write may put the answer before it, so
	// what stands before it in the file and is newer follows it.
	root string
	// results are the tool calls that have an answer; pending those that have none, newest first.
	results  map[string]bool
	pending  []pendingCall
	gathered bool // the newest message's tool calls have all been seen
	calls    bool
}

// done reports whether older records cannot change anything.
func (s *turnScan) done() bool { return s.decided && s.gathered && s.root == "" && !s.shell }

func (s *turnScan) add(l *line) {
	if s.root != "" {
		if !l.conversation() && l.Subtype != "turn_duration" {
			return
		}
		if l.Timestamp.Text(0) > s.root {
			*s = turnScan{turn: discover.Turn{Began: s.turn.Began}}
		}
		s.root = ""
	}
	if s.shell && s.decided {
		if s.shell = false; l.isCaveat() {
			*s = turnScan{settled: true, over: s.over, turn: discover.Turn{Began: s.turn.Began}}
		}
	}
	switch l.Type {
	case "system":
		s.over = s.over || !s.decided && l.Subtype == "turn_duration"
		s.settled = s.settled || !s.decided && l.Subtype == "local_command"
	case "assistant":
		s.assistant(l)
	case "user":
		s.user(l)
	}
}

// miss takes a damaged record, which may have decided: nothing older does. A turn that is known to be over stays so.
func (s *turnScan) miss() {
	if !s.decided && !s.over && !s.settled {
		s.end(discover.TurnUnknown)
	}
}

func (s *turnScan) assistant(l *line) {
	own := !l.IsAPIErrorMessage && !l.synthetic()
	if own && !s.decided && l.ends() { // as most do: the content tells no more
		s.end(discover.TurnDone)
		return
	}
	switch {
	case s.decided:
		s.gather(l)
	case l.IsAPIErrorMessage:
		s.end(discover.TurnFailed)
		s.turn.Error = strings.TrimSpace(textOf(l.content, 0))
	case !own:
		s.settled = true
	case l.StopReason == "" && native.ParseVersion(l.Version.Text(0))[0] < 2 && !hasBlock(l.content, "tool_use"):
		s.end(discover.TurnUnknown) // 1.x wrote messages before it knew how they end
	default:
		s.open()
		s.gather(l)
	}
}

// ends reports whether the model was done with this message.
func (m *message) ends() bool {
	switch m.StopReason {
	case "end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded":
		return true
	}
	return false
}

func (s *turnScan) user(l *line) {
	if l.IsMeta || l.IsCompactSummary || l.IsTranscriptOnly {
		return
	}
	words := strings.TrimSpace(textOf(l.content, wordsReading))
	counts := !s.gathered && !s.calls
	result := false
	for _, b := range blocks(l.content) {
		if b.Type != "tool_result" {
			continue
		}
		if s.results == nil {
			s.results = map[string]bool{}
		}
		result, s.results[b.ToolUseID] = true, counts
	}
	if !result {
		s.asked(l, words)
	}
	answers := result && counts
	switch {
	case s.decided:
		s.gathered = s.gathered || !answers
	case strings.HasPrefix(words, interrupted):
		s.end(discover.TurnInterrupted)
	case isShellOutput(words):
		s.shell = true
	case isLocalOutput(words):
		s.settled = true
	case strings.HasPrefix(words, "<local-command-"), s.settled && !s.shell && isLocalInput(words):
	case answers:
		s.open()
	default:
		s.open()
		s.gathered = true
		if l.ParentUUID.Text(0) == "" && !s.over && !s.settled {
			s.root = l.Timestamp.Text(0)
		}
	}
}

// asked notes when the newest prompt was given.
func (s *turnScan) asked(l *line, words string) {
	if s.turn.Began.IsZero() && !beginsWith(words, interrupted, "<local-command-") && !isShellOutput(words) {
		s.turn.Began = l.Timestamp.Time()
	}
}

// wordsReading is how many characters of a user record tell what sort it is.
const wordsReading = 100

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
func (l *line) isCaveat() bool {
	words := strings.TrimSpace(textOf(l.content, wordsReading))
	return l.Type == "user" && l.IsMeta && beginsWith(words, "<local-command-caveat>", "Caveat: ")
}

// open decides for a turn that has no end of its own.
func (s *turnScan) open() {
	switch {
	case s.over:
		s.end(discover.TurnDone)
	case s.settled:
		s.end(discover.TurnInterrupted)
	default:
		s.turn.State, s.decided = discover.TurnOpen, true
	}
}

func (s *turnScan) end(state discover.TurnState) {
	s.turn.State, s.decided, s.gathered = state, true, true
}

// gather notes the tool calls of the newest message that have no answer. A message of several calls is several
// records.
func (s *turnScan) gather(l *line) {
	if s.gathered {
		return
	}
	for _, b := range blocks(l.content) {
		if b.Type == "tool_use" {
			s.calls = true
			if !s.results[b.ID] {
				s.pending = append(s.pending, pendingCall{b.ID, b.Name, waitingOn(b)})
			}
		}
	}
}

// result is the verdict; whole tells whether the scan saw the conversation's beginning.
func (s *turnScan) result(whole bool) discover.Turn {
	switch {
	case s.decided:
	case s.over:
		s.turn.State = discover.TurnDone
	case whole:
		s.turn.State = discover.TurnNone
	}
	if len(s.pending) > 0 && s.turn.State == discover.TurnOpen {
		var tools []string
		for _, call := range slices.Backward(s.pending) {
			tools = append(tools, call.Name)
		}
		s.turn.Detail = "tool: " + strings.Join(tools, ", ")
	}
	return s.turn
}
