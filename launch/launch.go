// Package launch starts agents, and waits until their session is proven.
//
// A [Request] says what a person wants, in no agent's words. A [Launcher] makes a [Plan] of it: the agent's adapter says in a
// [Spec] how its program is started, and the workspace is locked and found free. [Plan.Execute] starts the program, in the
// same way for all agents. [Execution.Verify] watches the process table and the agent's storage, through the same
// [discover.Scanner] that every other verb asks, until a session is proven to be run by what was started. Nothing is written
// beside the agent's own files: its output goes to a file without a name, or to the one that was asked for.
package launch

import (
	"fmt"

	"agentctl/discover"
)

// Adapter is an adapter whose agent can be started. Its methods start nothing and write nothing.
type Adapter interface {
	discover.Adapter
	// Spec says how the request is carried out. Errors: [*NotInstalledError], [*UnsupportedError].
	Spec(Request, Environment) (Spec, error)
	// ParseOutput reads what the agent's process printed.
	ParseOutput(Output) ParsedOutput
	// ScrubbedEnv are the environment variables by which the agent marks the processes it starts. A * at the end stands for
	// any rest of the name. Settings that a person makes are not among them.
	ScrubbedEnv() []string
}

// Request is what a person asks for: a new session, or one more turn of a stopped one.
type Request struct {
	// Prompt is what the agent is asked; "" only for an interactive resume.
	Prompt string
	// Dir is where the agent works; a real path that exists.
	Dir string
	// Model is the agent's own name of a model, Name the title of the session; "" leaves both to the agent.
	Model, Name string
	Permissions Permissions
	// Args are more of the agent's own arguments, Variables are added to its environment, as KEY=VALUE.
	Args, Variables []string
	// Resume is the session to go on with; nil for a new one. Fork leaves it as it is and goes on with a copy.
	Resume *discover.Session
	Fork   bool
	// Interactive asks for the agent's own terminal interface, in our terminal and place.
	Interactive bool
}

// Permissions say what an agent may do without asking.
type Permissions string

// The permissions that can be asked for.
const (
	// PermissionsOwn changes nothing of the agent's own configuration; a resumed session gets what it had.
	PermissionsOwn Permissions = "own"
	// PermissionsEdit lets the agent change files in its directory.
	PermissionsEdit Permissions = "edit"
	// PermissionsFull is the agent's own mode without any approval.
	PermissionsFull Permissions = "full"
)

// Spec is how an agent is started.
type Spec struct {
	// Args is the command line; Args[0] is the absolute path of the program.
	Args []string
	// Env are variables, as KEY=VALUE, that the agent needs beside those it inherits.
	Env []string
	// Stdin is what the agent reads.
	Stdin string
	// Dir is where it runs.
	Dir string
	// ID is the session's, where it is known before the start: chosen by us, or the one resumed.
	ID string
	// Resumed: the session was there before; what proves this start is a new turn of it.
	Resumed bool
	// Hint is what the person should know of the way this was carried out; "" if nothing.
	Hint string
}

// Hinter is implemented by agents of which only the session that has begun tells what the person should know of the way a
// request was carried out.
type Hinter interface {
	// Hint is that, in one line; "" if there is nothing, or if the session does not tell.
	Hint(r Request, begun discover.Session) string
}

// ParsedOutput is what an agent's output tells.
type ParsedOutput struct {
	// ID is the session's, "" where the output does not name one.
	ID string
	// Error is the agent's own words about why it failed, "" where there are none.
	Error string
}

// NotInstalledError: the agent's program is not in PATH, or what is there is not whole.
type NotInstalledError struct {
	Agent   discover.Agent
	Program string
	Err     error // what is wrong with what was found; nil if nothing was
}

func (e *NotInstalledError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s is not installed whole: %v", e.Agent, e.Err)
	}
	return fmt.Sprintf("%s is not installed: there is no program %q in PATH", e.Agent, e.Program)
}

func (e *NotInstalledError) Unwrap() error { return e.Err }

// UnsupportedError: the agent cannot do what was asked for.
type UnsupportedError struct {
	Agent discover.Agent
	What  string
}

func (e *UnsupportedError) Error() string { return fmt.Sprintf("%s %s", e.Agent, e.What) }
