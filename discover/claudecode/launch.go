package claudecode

import (
	"fmt"
	"unicode/utf16"

	"agentctl/discover/native"
	"agentctl/launch"
)

// Spec implements [launch.Agent]: `claude -p` with an id of our choice and the prompt on stdin, where it stands in no
// command line and is stored as it is (SEEN 2.1.75–2.1.329). A session that is resumed runs where its project folder
// says that it began, with the model and the permission mode that it had.
func (a Adapter) Spec(r launch.Request, host launch.Host) (launch.Spec, error) {
	program, err := host.LookPath(a.Program())
	if err != nil {
		return launch.Spec{}, &launch.NotInstalledError{Agent: a.Name(), Program: a.Program()}
	}
	if err := checkWhole(program); err != nil {
		return launch.Spec{}, &launch.NotInstalledError{Agent: a.Name(), Program: a.Program(), Err: err}
	}
	c := caller{Request: r, host: host, version: installedVersion(program)}
	if err := c.check(); err != nil {
		return launch.Spec{}, err
	}
	spec := launch.Spec{Args: []string{program}, Stdin: r.Prompt, Dir: r.Dir, Hint: c.hint()}
	if !r.Interactive {
		spec.Args = append(spec.Args, "-p")
	}
	c.session(&spec)
	spec.Args = append(append(spec.Args, c.options()...), r.Args...)
	return spec, nil
}

// Markers implements [launch.Agent]: what Claude Code sets for the commands, hooks and servers that it starts (SEEN
// 2.1.75–2.1.329). A TUI that has CLAUDE_CODE_CHILD_SESSION stores nothing and registers nowhere.
func (Adapter) Markers() []string {
	return []string{
		markKey, sessionKey, pidKey, "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_ENTRYPOINT",
		"CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS", "CLAUDE_CODE_MESSAGING_*",
		"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE", "CLAUDE_JOB_DIR", "CLAUDE_PROJECT_DIR", "AI_AGENT",
	}
}

// caller turns a request into Claude Code's arguments.
type caller struct {
	launch.Request
	host    launch.Host
	version native.Version // of what is installed; zero if that is not known, which is taken for a current one
}

// promptLimit is the most that print mode reads from stdin, in UTF-16 units (2.1.197, 2.1.329).
const promptLimit = 10 << 20

// check says what Claude Code cannot do of what is asked.
func (c caller) check() error {
	units := 0
	for _, r := range c.Prompt {
		units += utf16.RuneLen(r)
	}
	if units > promptLimit {
		return c.unsupported("reads no prompt above %d MB, and this one has more than %d characters: put the text in a file and name it in the prompt",
			promptLimit>>20, promptLimit)
	}
	if c.Name != "" && c.version.Before(native.Version{2, 1, 76}) {
		return c.unsupported("%s cannot name a session at its start: update it, or leave out --name", c.version)
	}
	for _, arg := range c.Args {
		if has(sessionFlags, flagOf(arg)) {
			return c.unsupported("cannot be given %s here: agentctl chooses the session itself (see agentctl resume)", arg)
		}
	}
	return nil
}

func (c caller) unsupported(format string, args ...any) error {
	return &launch.UnsupportedError{Agent: agentName, What: fmt.Sprintf(format, args...)}
}

// hint tells that a run with nobody to ask is denied what the settings do not allow.
func (c caller) hint() string {
	if c.Interactive || c.Resume != nil || c.Permissions != launch.Own || c.permitted() {
		return ""
	}
	return "claude -p denies what its settings do not allow, edits included; --permissions edit lets it change files"
}
