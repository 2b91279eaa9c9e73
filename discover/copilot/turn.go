package copilot

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// turnEvent is what a record says of a turn.
type turnEvent struct {
	Type, Agent, ID, Parent string
	Time                    time.Time
	// Call is the ID of a tool call or of a request for permission, For the call that permission is asked for. Tool is the tool, On the call, or what
	// the user is asked about.
	Call, For, Tool string
	On              *discover.WaitingOn
	// Prompt is what the user typed.
	Prompt string
	// More: the answer of the model asks for tools, so that its end is not that of the turn.
	More bool
	// Steering: the prompt was given within a turn. Outside: it is not what the user typed.
	Steering, Outside bool
	// InUse: another process runs the session, and goes on. Attached: a client has joined the process that runs it.
	InUse, Attached bool
	Error           string
}

// damagedEvent stands for a record that cannot be read.
const damagedEvent = "damaged"

func newTurnEvent(e *event) turnEvent {
	t := turnEvent{Type: e.Type, Agent: e.Agent.Text(idLimit), ID: e.ID.Text(idLimit), Parent: e.Parent.Text(idLimit), Time: e.time()}
	switch e.Type {
	case userMessage:
		t.Steering, t.Outside = e.Data.Get("delivery").Text(0) == "steering", !e.fromUser()
		t.Prompt = strings.Clone(discover.PromptText(e.Data.Get("content").Text(0)))
	case assistantText:
		for range e.Data.Get("toolRequests").Elements() {
			t.More = true
			break
		}
	case toolStart, toolComplete:
		t.Call, t.Tool = e.Data.Get("toolCallId").Text(idLimit), e.Data.Get("toolName").Text(idLimit)
		switch input := e.Data.Get("arguments").Object(); {
		case isQuestion(t.Tool):
			t.On = questionOf(t.Tool, input)
		case e.Type == toolStart:
			t.On = discover.NewWaitingOn(t.Tool, callBrief(input), input.Get("path").Text(0), nil)
		}
	case permissionAsked:
		request := e.Data.Get("permissionRequest").Object()
		t.Call, t.For, t.On = e.Data.Get("requestId").Text(idLimit), request.Get("toolCallId").Text(idLimit), permissionOf(request)
	case permissionGiven:
		t.Call = e.Data.Get("requestId").Text(idLimit)
	case sessionResume:
		t.InUse, t.Attached = e.Data.Get("alreadyInUse").IsTrue(), e.Data.Get("sessionWasActive").IsTrue()
	case sessionError:
		t.Error = strings.TrimSpace(e.Data.Get("message").Text(0))
	}
	if t.On != nil {
		t.On.ID = t.Call
	}
	return t
}

// turnReader determines the state of the newest turn from the records of a session, the oldest first.
//
// Nothing keeps a second process from resuming a session that another one runs: then both write, and each has a turn of its own. The
// session's turn is one that is open, if there is any.
type turnReader struct{ writers []*writer }

// writer is the state of one process's turn.
type writer struct {
	last string // the ID of its newest record
	turn discover.Turn
	// more: its newest answer asks for tools. answered: the turn has an answer.
	more, answered  bool
	calls, requests []turnEvent
	subagents       []string // those that run
	prompt          string   // of the turn
}

// newTurnReader begins with no turn, or with one of unknown state if older records are not read.
func newTurnReader(whole bool) *turnReader {
	w := &writer{answered: !whole}
	if whole {
		w.turn.State = discover.TurnNone
	}
	return &turnReader{[]*writer{w}}
}

// writerOf returns the writer of a record: that of the record before it. Where this was not read, it is the one that wrote last.
func (t *turnReader) writerOf(e *turnEvent) *writer {
	i := slices.IndexFunc(t.writers, func(w *writer) bool { return w.last == e.Parent })
	if i < 0 {
		i = len(t.writers) - 1
	}
	w := t.writers[i]
	t.writers = append(slices.Delete(t.writers, i, i+1), w)
	return w
}

func (t *turnReader) add(e *turnEvent) {
	if e.Type == sessionResume && !e.Attached {
		t.resume(e)
		return
	}
	w := t.writerOf(e)
	w.last = e.ID
	w.add(e)
}

// resume takes the record of a process that begins to run the session. Unless another one goes on, the turn that is open was cut short.
func (t *turnReader) resume(e *turnEvent) {
	w := &writer{last: e.ID}
	if e.InUse {
		w.turn.State = discover.TurnNone
		t.writers = append(t.writers, w)
		return
	}
	for _, w := range t.writers {
		w.end()
	}
	w.turn = t.newest().turn
	t.writers = []*writer{w}
}

// end cuts the turn short.
func (w *writer) end() {
	if w.isOpen() {
		w.turn.State = discover.TurnInterrupted
	}
	w.calls, w.requests, w.subagents = nil, nil, nil
}

// isOpen reports whether the turn, or a sub-agent that runs in the background, is in progress.
func (w *writer) isOpen() bool { return w.turn.State == discover.TurnOpen || len(w.subagents) > 0 }

func (w *writer) add(e *turnEvent) {
	sameCall := func(c turnEvent) bool { return c.Call == e.Call }
	switch e.Type {
	case toolStart:
		w.calls = append(w.calls, *e)
	case toolComplete:
		w.calls = slices.DeleteFunc(w.calls, sameCall)
	case permissionAsked:
		w.requests = append(w.requests, *e)
	case permissionGiven:
		w.requests = slices.DeleteFunc(w.requests, sameCall)
	case subagentStarted:
		w.subagents = append(w.subagents, e.Agent)
	case subagentDone, subagentFailed:
		w.subagents = slices.DeleteFunc(w.subagents, func(id string) bool { return id == e.Agent })
	case sessionShutdown:
		if w.isOpen() {
			was := w.result()
			w.turn = discover.Turn{State: discover.TurnInterrupted, Cut: true, OpenCall: was.OpenCall, Prompt: was.Prompt, Began: was.Began}
		}
		w.end()
	}
	if e.Agent == "" {
		w.addOwn(e)
	}
}

// addOwn takes a record that is no sub-agent's.
func (w *writer) addOwn(e *turnEvent) {
	switch e.Type {
	case userMessage:
		w.open(e, !e.Steering && !e.Outside)
	case turnStart:
		w.open(e, false)
	case assistantText:
		w.more, w.answered = e.More, true
	case turnEnd:
		if (w.turn.State == discover.TurnOpen || w.turn.State == discover.TurnUnknown) && !w.more {
			w.turn.State = discover.TurnDone
		}
	case aborted:
		w.end()
		w.turn = discover.Turn{State: discover.TurnInterrupted, Began: w.turn.Began}
	case sessionError:
		w.turn.State, w.turn.Error = discover.TurnFailed, e.Error
	case damagedEvent:
		w.turn = discover.Turn{}
	}
}

// open begins a turn, or goes on with one. prompted: the user has asked for it.
func (w *writer) open(e *turnEvent, prompted bool) {
	state, began := w.turn.State, w.turn.Began
	if state == discover.TurnOpen && !prompted {
		return
	}
	if prompted || state != discover.TurnUnknown {
		began, w.answered, w.prompt = e.Time, false, e.Prompt
	}
	w.turn, w.more = discover.Turn{State: discover.TurnOpen, Began: began}, false
}

// newest returns the writer with an open turn that wrote last, or else the one that wrote last of all.
func (t *turnReader) newest() *writer {
	for _, w := range slices.Backward(t.writers) {
		if w.isOpen() {
			return w
		}
	}
	return t.writers[len(t.writers)-1]
}

func (w *writer) result() discover.Turn {
	turn := w.turn
	if !w.isOpen() {
		return turn
	}
	turn.State, turn.Error = discover.TurnOpen, ""
	if turn.Unanswered = !w.answered && len(w.subagents) == 0; turn.Unanswered {
		turn.Prompt = w.prompt
	}
	var tools []string
	for _, c := range w.calls {
		tools = append(tools, c.Tool)
		turn.OpenCall = c.On
		if isQuestion(c.Tool) && turn.State == discover.TurnOpen {
			turn.State, turn.WaitingFor, turn.WaitingOn = discover.TurnWaiting, questionWord, c.On
		}
	}
	if len(w.requests) > 0 { // of several, the dialog shows the one that was requested first (SEEN 1.0.102)
		on := *w.requests[0].On
		for _, c := range w.calls {
			if c.Call == w.requests[0].For {
				on.Tool = c.Tool
			}
		}
		turn.State, turn.WaitingFor, turn.WaitingOn = discover.TurnWaiting, permissionWord, &on
	}
	if len(tools) > 0 {
		turn.Detail = "tool: " + strings.Join(tools, ", ")
	}
	return turn
}

// liveTurn is what the process itself shows of its turn: a print run is in its turn, or waits for what runs in the background, until it ends.
// Others show nothing.
func (p *process) liveTurn() *discover.Turn {
	if p.source() == "print" {
		return &discover.Turn{State: discover.TurnOpen}
	}
	return nil
}

// Why a turn waits, by the words that all agents share.
const (
	permissionWord = "permission"
	questionWord   = "question"
)

// The tools that ask the user: for an answer, and for the approval of a plan.
const (
	askTool  = "ask_user"
	planTool = "exit_plan_mode"
)

func isQuestion(tool string) bool { return tool == askTool || tool == planTool }

// questionOf describes an open call of such a tool. Up to 1.0.12 the question has another name.
func questionOf(tool string, input storage.Object) *discover.WaitingOn {
	if tool == planTool {
		return discover.NewWaitingOn(tool, input.Get("summary").Text(0), "", nil)
	}
	text := cmp.Or(input.Get("message").Text(0), input.Get("question").Text(0))
	return discover.NewWaitingOn(tool, text, "", []string{text})
}

// permissionOf describes a request for permission: the very command, file or address that the dialog shows.
func permissionOf(r storage.Object) *discover.WaitingOn {
	kind, text := r.Get("kind").Text(idLimit), func(key string) string { return r.Get(key).Text(0) }
	path, brief := "", ""
	switch kind {
	case "shell":
		brief = text("fullCommandText")
	case "write":
		path = text("fileName")
	case "read":
		path = text("path")
	case "url":
		brief = text("url")
	case "mcp":
		brief = strings.Trim(text("serverName")+": "+cmp.Or(text("toolTitle"), text("toolName")), ": ")
	}
	on := discover.NewWaitingOn(kind, cmp.Or(brief, path, text("intention")), path, nil)
	if diff := text("diff"); kind == "write" && diff != "" {
		added, removed := countDiff(diff)
		on.Diff = discover.NewDiff(added, removed, true)
	}
	return on
}

func countDiff(diff string) (added, removed int) {
	body := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			body = true
		case body && strings.HasPrefix(line, "+"):
			added++
		case body && strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}
