// Package launch starts agents, and waits until their session is proven.
//
// A [Request] says what the user wants, in no agent's words. A [Planner] makes a [Plan] of it: the agent's adapter says in a
// [Spec] how its program is started, and the workspace is locked and found free. [Plan.Execute] starts the program, in the
// same way for all agents. [Execution.Verify] watches the process table and the agent's storage, through the same
// [discover.Scanner] that every other verb asks, until it is proven which session the started process runs. This package
// writes no files, except the agent's output: to an unnamed file, or to the one that the caller names.
//
// [SendMessage] gives a live session a message, [Guide] finds the way to its terminal, and [ManageStored] removes and archives
// stored sessions.
package launch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
)

// Request is what the user asks for: a new session, or one more turn of a stopped one.
type Request struct {
	// Prompt is "" only for an interactive resume.
	Prompt string
	// Dir is the directory that the agent works in: a path without symbolic links that exists.
	Dir string
	// Model is the agent's own name of a model, Name the title of the session; "" leaves each to the agent.
	Model, Name string
	Permissions Permissions
	// Args are passed to the agent unchanged. Variables are added to its environment, as KEY=VALUE.
	Args, Variables []string
	// Resume is the session to continue; nil for a new one. Fork continues a copy and leaves the session as it is.
	Resume *discover.Session
	Fork   bool
	// Unchanged: the session to resume must not have changed since it was read. Else the plan is a [*ChangedError].
	Unchanged bool
	// Moved: Dir is not the directory that the session to resume worked in. An agent that cannot continue it there is an
	// [*UnsupportedError].
	Moved bool
	// Interactive asks for the agent's own terminal interface, which replaces this process.
	Interactive bool
}

// ChoosesSession says why an argument of the user's own is refused, which chooses the session.
const ChoosesSession = "cannot be given %s here: agentctl chooses the session itself (see agentctl resume)"

// FindArg returns the first of the user's own arguments that is one of these flags, which are separated by spaces, with or without a value.
func (r Request) FindArg(flags string) (arg string, ok bool) {
	for _, arg := range r.Args {
		if flag, _, _ := strings.Cut(arg, "="); slices.Contains(strings.Fields(flags), flag) {
			return arg, true
		}
	}
	return "", false
}

// Permissions are what an agent may do without asking.
type Permissions string

// The permissions that can be asked for.
const (
	// PermissionsOwn changes nothing of the agent's own configuration; a resumed session gets what it had.
	PermissionsOwn Permissions = "own"
	// PermissionsEdit lets the agent change files in its directory.
	PermissionsEdit Permissions = "edit"
	// PermissionsFull is the agent's own mode without approvals.
	PermissionsFull Permissions = "full"
)

// Spec is how an agent is started.
type Spec struct {
	// Args is the command line; Args[0] is the absolute path of the program.
	Args []string
	// Env are variables, as KEY=VALUE, that the agent needs besides those of its environment.
	Env []string
	// Stdin is the text that the agent reads.
	Stdin string
	// Dir is the directory that the agent runs in.
	Dir string
	// ID is the ID of the session if it is known before the start: chosen for it, or that of the resumed session; else "".
	ID string
	// Resumed: the session exists already, so that only a new turn of it proves the start.
	Resumed bool
	// Hint tells the user how the request was carried out, if that may surprise; else "".
	Hint string
}

// ParsedOutput is what an agent's output says.
type ParsedOutput struct {
	// ID is the ID of the session, "" if the output does not have it.
	ID string
	// Error is why the agent failed, in its own words; "" if the output has no error.
	Error string
}

// NotInstalledError says that the agent's program is not in PATH, or is incomplete.
type NotInstalledError struct {
	Agent   discover.Agent
	Program string
	Err     error // what is wrong with the program that was found; nil if none was
}

func (e *NotInstalledError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s is not installed whole: %v", e.Agent, e.Err)
	}
	return fmt.Sprintf("%s is not installed: there is no program %q in PATH", e.Agent, e.Program)
}

func (e *NotInstalledError) Unwrap() error { return e.Err }

// UnsupportedError says that the agent cannot do what was asked for.
type UnsupportedError struct {
	Agent discover.Agent
	What  string
}

func (e *UnsupportedError) Error() string { return fmt.Sprintf("%s %s", e.Agent, e.What) }

const (
	// turnObservation is how long an agent is watched after its turn is in storage, so that a turn that fails at once is
	// reported as failed. On a busy machine it is half the time that its session took to be proven.
	turnObservation = 250 * time.Millisecond
	// storeTimeout is how long the turn may take to appear in storage. An agent that stores nothing never has one.
	storeTimeout = time.Second
	// failureTimeout is how long an agent may take to end once its turn has failed, or to store the model's answer or refusal
	// (OpenCode 1.18.33, from the proof on: an unknown model 0.2 to 1.6 s, an HTTP error at once 0.6 to 2.2 s).
	failureTimeout = 5 * time.Second
	// timeoutFactor raises failureTimeout on a busy machine: an agent may also take this many times as long as its session took
	// to be proven. Likewise, storeTimeout is at least the time until the proof.
	timeoutFactor = 3
	// runGrace is how long a short command of an agent may take to end after its context has ended.
	runGrace = 2 * time.Second
	// storeCommandTimeout is how long a command of an agent may take to remove or archive a session: several times what the slowest
	// took on a busy machine (2 s).
	storeCommandTimeout = time.Minute
	// askTimeout bounds how long a multiplexer may take to answer. tmux answers in milliseconds.
	askTimeout = 2 * time.Second
	// messageDisorder is how far the times of stored messages may be out of order.
	messageDisorder = time.Minute
	// maxNewMessages is how many messages may be newer than a send: more than any agent stores in the time that is waited.
	maxNewMessages = 10_000
	// requestTimeout is how long an agent may take to list its open requests: it takes milliseconds, and a second where it is busy.
	requestTimeout = 10 * time.Second
	// finalReadTimeout bounds the last read of the transcript after the time to send has run out.
	finalReadTimeout = 2 * time.Second
)
