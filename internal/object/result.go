package object

import (
	"time"

	"agentctl/discover/watch"
)

// StopResult is the JSON object of one session that stop was asked to end.
type StopResult struct {
	// Host is the machine of the session; absent for this one.
	Host string  `json:"host,omitempty"`
	ID   *string `json:"id"`
	// PID is a process that ran it, and StatusBefore its status, before it was stopped.
	PID          int      `json:"pid,omitempty"`
	StatusBefore string   `json:"statusBefore,omitempty"`
	Adapter      string   `json:"adapter"`
	Result       string   `json:"result"`
	Message      string   `json:"message,omitempty"`
	Session      *Session `json:"session,omitempty"`
	// Request is accepted, unanswered or failed; "" if the agent was not asked to end the session.
	Request   string   `json:"request,omitempty"`
	Signalled []Signal `json:"signalled"`
	Survived  []int    `json:"survived"`
	// LeftBehind are the pids of orphans of an earlier process of the session.
	LeftBehind []int `json:"leftBehind,omitempty"`
}

// Signal is a signal that was sent.
type Signal struct {
	PID    int    `json:"pid"`
	Signal string `json:"signal"`
	Role   string `json:"role"`
}

// StoredResult is the JSON object of one session that rm, archive or unarchive was given.
type StoredResult struct {
	// Host is the machine of the session; absent for this one.
	Host    string  `json:"host,omitempty"`
	ID      *string `json:"id"`
	Adapter string  `json:"adapter"`
	// Action is rm, archive or unarchive; Result what became of it.
	Action string `json:"action"`
	Result string `json:"result"`
	// Message says why it was refused, is not supported or failed.
	Message string `json:"message,omitempty"`
	// Command is the agent's own command, which was run or would be.
	Command []string `json:"command,omitempty"`
	// Session is the session as it is now; absent if it is gone, or nothing is done to it.
	Session *Session `json:"session,omitempty"`
}

// ResumeResult is the JSON object of one of several sessions that resume was given, or that were cut off.
type ResumeResult struct {
	// Host is the machine of the session; absent for this one.
	Host    string `json:"host,omitempty"`
	ID      string `json:"id"`
	Adapter string `json:"adapter"`
	// Result is resumed, planned, refused or failed.
	Result string `json:"result"`
	// Message says why it was refused or failed.
	Message string `json:"message,omitempty"`
	// Window is the session of tmux that has its window.
	Window string `json:"tmux,omitempty"`
	// Session is the session as it is now.
	Session *Session `json:"session,omitempty"`
}

// SendResult is the JSON object of a message that an agent has accepted.
type SendResult struct {
	// Result is delivered, accepted, lost, dropped or unknown.
	Result string `json:"result"`
	// Refusal is what is known of a message that is not delivered.
	Refusal string  `json:"refusal,omitempty"`
	Session Session `json:"session"`
	// Message is the message as the transcript has it.
	Message *Message `json:"message,omitempty"`
}

// Request is the JSON object of a request of a session to its user, and of what became of an answer to it.
type Request struct {
	Session Session `json:"session"`
	// ID is the agent's own ID of the request, Call that of the tool call; absent where they are not known.
	ID   string `json:"id,omitempty"`
	Call string `json:"call,omitempty"`
	// Kind is permission, question, or another word that the agent uses.
	Kind string `json:"kind"`
	Tool string `json:"tool,omitempty"`
	// Text is the whole of what is to be allowed: the command, the diff, or else the input of the call.
	Text      string     `json:"text,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	CWD       string     `json:"cwd,omitempty"`
	Questions []Question `json:"questions,omitempty"`
	// Always says what the answer always allows; No what the answer no does beside refusing.
	Always string `json:"always,omitempty"`
	No     string `json:"no,omitempty"`
	// Unanswerable says why it cannot be answered but in the agent's own terminal.
	Unanswerable string `json:"unanswerable,omitempty"`
	// Reply is the answer that was given, Result what became of it: answered, accepted, contradicted or ended.
	Reply  string `json:"reply,omitempty"`
	Result string `json:"result,omitempty"`
}

// Question is a question of a [Request].
type Question struct {
	Header   string   `json:"header,omitempty"`
	Text     string   `json:"text"`
	Choices  []Choice `json:"choices,omitempty"`
	Multiple bool     `json:"multiple,omitempty"`
	FreeText bool     `json:"freeText,omitempty"`
}

// Choice is a choice of a [Question].
type Choice struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// LaunchResult is the JSON object of one launch of a group.
type LaunchResult struct {
	// Host is the machine of the session; absent for this one.
	Host string `json:"host,omitempty"`
	// Name identifies the launch within its group.
	Name    string `json:"name"`
	Adapter string `json:"adapter"`
	Model   string `json:"model,omitempty"`
	Group   string `json:"group"`
	// Branch and CWD describe the worktree that was created for the launch.
	Branch string `json:"branch,omitempty"`
	CWD    string `json:"cwd,omitempty"`
	// Session is absent if no session was proven; Error says why.
	Session *Session `json:"session,omitempty"`
	Error   string   `json:"error,omitempty"`
	// Answer is the answer of the session, as in [Session].
	Answer string `json:"answer,omitempty"`
}

// Process is the JSON object of one process: of the process tree of a session, or an orphan.
type Process struct {
	PID       int    `json:"pid"`
	PPID      int    `json:"ppid"`
	Name      string `json:"name"`
	Command   string `json:"command,omitempty"`
	StartedAt string `json:"startedAt,omitempty"`
	// CPU is processor time in seconds; Memory is resident memory in bytes.
	CPU    *float64 `json:"cpu,omitempty"`
	Memory *int64   `json:"memory,omitempty"`
	// Ports are the TCP ports on which it listens, in its own network namespace.
	Ports []int `json:"ports,omitempty"`
	// Shared: the process serves other sessions as well, or may.
	Shared bool `json:"shared,omitempty"`
	// Adapter and Sessions are set if the process runs, or works for, other sessions only. Its descendants are listed
	// with those.
	Adapter  string   `json:"adapter,omitempty"`
	Sessions []string `json:"sessions,omitempty"`
}

// Changes counts the uncommitted files of a worktree, and the commits ahead of and behind its upstream.
type Changes struct {
	Changed   int    `json:"changed"`
	Untracked int    `json:"untracked"`
	Upstream  string `json:"upstream,omitempty"`
	Ahead     *int   `json:"ahead,omitempty"`
	Behind    *int   `json:"behind,omitempty"`
}

// Orphan is the JSON object of one process that a stopped session left running, as list --orphans --json prints
// it. Adapter and SessionID name the session.
type Orphan struct {
	Process
	// SessionID is absent if the environment marker of the agent names a process instead of a session.
	SessionID *string `json:"sessionId,omitempty"`
	// Host is the machine on which it runs; absent for this one.
	Host string `json:"host,omitempty"`
}

// Event is the JSON object of a session event: one line of `events`, and the body that --webhook posts.
type Event struct {
	Type    string `json:"type"`
	Time    string `json:"time"`
	Adapter string `json:"adapter"`
	// SessionID repeats the ID of the session, and Timestamp repeats Time: agentctl-ts has them there.
	SessionID *string `json:"sessionId,omitempty"`
	Timestamp string  `json:"timestamp"`
	Session   Session `json:"session"`
}

// EventTypes are the types of events.
func EventTypes() []string {
	return []string{
		string(watch.SessionStarted), string(watch.SessionRunning), string(watch.SessionWaiting), string(watch.SessionIdle), string(watch.SessionError), string(watch.SessionStopped), string(watch.SessionQuiet),
	}
}

// NewEvent makes the JSON object of an event.
func NewEvent(kind watch.EventType, at time.Time, s Session) Event {
	text := Timestamp(at)
	return Event{string(kind), text, s.Adapter, s.ID, text, s}
}

// HostCheck is the JSON object of a host of `host check`.
type HostCheck struct {
	Host        string `json:"host"`
	Destination string `json:"destination"`
	// Version, Schema, OS and Arch are those of the agentctl there; absent if none has answered.
	Version string `json:"version,omitempty"`
	Schema  string `json:"schema,omitempty"`
	OS      string `json:"os,omitempty"`
	Arch    string `json:"arch,omitempty"`
	// Agents are those that a command there finds in its PATH.
	Agents []HostAgent `json:"agents"`
	// Problem says why the host cannot be asked.
	Problem string `json:"problem,omitempty"`
}

// HostAgent is an agent that is installed on a host.
type HostAgent struct {
	Adapter string `json:"adapter"`
	Version string `json:"version,omitempty"`
}

// SessionRows are all sessions of a table, as the list --watch of another machine gets them whenever one has changed.
type SessionRows struct {
	Sessions []Session `json:"sessions"`
}

// Diagnostic is the JSON object of one line on stderr with --json. Exactly one field is set.
type Diagnostic struct {
	Error   *Error   `json:"error,omitempty"`
	Warning *Warning `json:"warning,omitempty"`
	Hint    string   `json:"hint,omitempty"`
}

// Error is the error with which a command ends.
type Error struct {
	// Code is the name of the error; docs/cli.md lists the names with their exit codes.
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Candidates are the sessions that an ambiguous ID matches, possibly truncated.
	Candidates []Session `json:"candidates,omitempty"`
}

// Warning is a warning. Adapter and Path name what could not be read; Source is the flag whose script printed the
// message.
type Warning struct {
	Message string `json:"message"`
	Adapter string `json:"adapter,omitempty"`
	Path    string `json:"path,omitempty"`
	Source  string `json:"source,omitempty"`
	// Host is the machine that it is about; absent for this one.
	Host string `json:"host,omitempty"`
}

// Lock is the JSON object of a lock that is in force.
type Lock struct {
	Directory string `json:"directory"`
	// Kind is session, held or declared.
	Kind  string `json:"type"`
	Since string `json:"lockedAt,omitempty"`
	// Adapter, SessionID and Status describe the live session of a session lock.
	Adapter   string  `json:"adapter,omitempty"`
	SessionID *string `json:"sessionId,omitempty"`
	Status    string  `json:"status,omitempty"`
	// PID is the process of the session, or the process that holds the lock.
	PID int `json:"pid,omitempty"`
	// LockedBy is who declared the lock, or the name of the process that holds it.
	LockedBy string `json:"lockedBy,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Shared: several processes can hold this held lock at once. It conflicts only with an exclusive lock.
	Shared bool `json:"shared,omitempty"`
	// Until is when a declared lock expires.
	Until string `json:"expiresAt,omitempty"`
}

// Worktree is the JSON object of a git worktree: what git reports, and the live sessions in it.
type Worktree struct {
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	Head   string `json:"head,omitempty"`
	// Main: the main worktree of the repository. Bare: the repository has no working files.
	Main     bool `json:"main"`
	Bare     bool `json:"bare"`
	Detached bool `json:"detached"`
	// HalfMade: `git worktree add` has not finished: it is running, or was killed.
	HalfMade    bool   `json:"halfMade"`
	Locked      bool   `json:"locked"`
	LockReason  string `json:"lockReason,omitempty"`
	Prunable    bool   `json:"prunable"`
	PruneReason string `json:"pruneReason,omitempty"`
	// Group is the launch group for which the branch was created.
	Group string `json:"group,omitempty"`
	// Sessions are the live sessions in the worktree.
	Sessions []Session `json:"sessions"`
}

// CleanResult is the JSON object of one worktree or branch that worktree clean considered for removal.
type CleanResult struct {
	// Path is "" for a branch without a worktree.
	Path   string `json:"path,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Result is removed, planned, refused or failed.
	Result string `json:"result"`
	// BranchDeleted: the branch was deleted as well.
	BranchDeleted bool `json:"branchDeleted"`
	// Reasons say why the removal was refused; Message is the error if it failed.
	Reasons []CleanReason `json:"reasons"`
	Message string        `json:"message,omitempty"`
}

// CleanReason is one reason against removal: a code and a sentence.
type CleanReason struct {
	Why     string `json:"why"`
	Message string `json:"message"`
}

// GitHook is the JSON object of a git hook of a repository.
type GitHook struct {
	Hook string `json:"hook"`
	// State is installed, not_installed, foreign, manual or modified.
	State string `json:"state"`
	Path  string `json:"path"`
	// Program is the agentctl that an installed hook runs.
	Program string `json:"program,omitempty"`
	// TrailerMerges: the hook adds the session trailer to merge and squash commits too.
	TrailerMerges bool `json:"trailerMerges,omitempty"`
	// Original is the hook that was installed before, if our hook calls it.
	Original string `json:"original,omitempty"`
	// Manager is the tool that manages a foreign hook. Reason says why the hook is foreign, manual or modified; Advice
	// says what the user can do.
	Manager string `json:"manager,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Advice  string `json:"advice,omitempty"`
	// Changed: this command changed the hook.
	Changed bool `json:"changed"`
}
