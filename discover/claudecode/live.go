package claudecode

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// turn is what the process itself shows of its turn; nil where only the transcript tells.
func (l *look) turn(x *process, path string) *discover.Turn {
	source := x.source()
	switch status := x.entry.Status; {
	case status == "busy":
		return &discover.Turn{State: discover.TurnOpen}
	case status == "waiting":
		return x.waits(l.ctx, path)
	case source == "print" && !x.command.stream: // it ends with its turn, and is "idle" before that begins (2.1.329)
		return &discover.Turn{State: discover.TurnOpen}
	case status == "idle", status == "shell":
		return &discover.Turn{State: discover.TurnDone}
	}
	switch {
	case source == "tui" && path == "" && x.registered(): // a TUI makes its transcript at the first prompt
		return &discover.Turn{State: discover.TurnNone}
	case source == "tui":
		return l.blocked(x, path)
	}
	return nil
}

// questionTool is the tool by which the model asks the person something.
const questionTool = "AskUserQuestion"

// waits is a turn that waits by the registry's word, which it translates. A question waits as "permission prompt" (2.1.197) or
// "input needed" (2.1.329); that it is one, the open tool call tells.
func (x *process) waits(ctx context.Context, path string) *discover.Turn {
	word := x.entry.WaitingFor
	turn := &discover.Turn{State: discover.TurnWaiting, WaitingFor: word}
	if word != "permission prompt" && word != "input needed" {
		return turn
	}
	tail, err := readTail(ctx, path)
	if question := tail.turn.question(); err == nil && question != nil {
		turn.WaitingFor, turn.On = "question", question
	} else if word == "permission prompt" {
		turn.WaitingFor = "permission"
		if err == nil {
			turn.On = x.permission(ctx, &tail.turn, path)
		}
	}
	return turn
}

// blocked finds out, for versions whose registry has no status (before 2.1.119), whether the person is asked: a tool
// that starts a command, or is done at once, and has been asked for a while ago without either, waits for leave.
func (l *look) blocked(x *process, path string) *discover.Turn {
	tail, err := readTail(l.ctx, path)
	if err != nil || tail.turn.result(true).State != discover.TurnOpen || len(tail.turn.pending) == 0 {
		return nil
	}
	if !x.StartedBefore(tail.updated) { // what another process was killed in
		return nil
	}
	if question := tail.turn.question(); question != nil {
		return &discover.Turn{State: discover.TurnWaiting, WaitingFor: "question", On: question}
	}
	const grace = time.Second // between the record of a call and the start of its command
	if slices.ContainsFunc(tail.turn.pending, func(c pendingCall) bool { return !runsAlone(c.Name) }) {
		return nil
	}
	if len(l.toolChildren(x)) > 0 || time.Since(tail.updated) < grace {
		return nil
	}
	return &discover.Turn{State: discover.TurnWaiting, WaitingFor: "permission", On: x.permission(l.ctx, &tail.turn, path)}
}

// readTail reads the end of the transcript of a session, or of a sub-agent.
func readTail(ctx context.Context, path string) (tail tailScan, err error) {
	tail.side = isSubagent(filepath.Base(path))
	f, err := native.Open(ctx, path)
	if err != nil {
		return tail, err
	}
	defer f.Close()
	err = tail.read(f)
	return tail, err
}
