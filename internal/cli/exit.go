package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/worktree"
)

// The exit codes. docs/cli.md tells people; a test compares.
const (
	exitOK          = 0
	exitFailed      = 1   // failure
	exitUsage       = 2   // wrong command line or configuration
	exitNotFound    = 3   // no such session, lock or worktree
	exitAmbiguous   = 4   // the ID means several sessions
	exitConflict    = 5   // somebody is in the way
	exitPartial     = 6   // printed, but something could not be read
	exitUnable      = 7   // the agent is not installed, or cannot do that
	exitNo          = 8   // the answer is no
	exitTimeout     = 124 // not in time
	exitInterrupted = 130 // SIGINT, SIGTERM or SIGHUP
	exitNoReader    = 141 // nobody reads stdout any more: what a shell says of a program that SIGPIPE has ended
)

// ending is how a command ends: its exit code, and the error's name in JSON; "" where nothing is printed.
type ending struct {
	exit int
	code string
}

// failure is an error that knows how the command ends, and what to do about it. The errors of other packages have their
// ending in [end].
type failure struct {
	ending
	message, hint string
}

func (f *failure) Error() string { return f.message }

// Silent ways of ending: all there is to say is said.
var (
	// errPartial: warnings say what was left out.
	errPartial = errors.New("something could not be read")
	// errNo: the exit code is the answer.
	errNo = errors.New("no")
)

// refusal is a plain no with words.
func refusal(message string) error { return &failure{ending{exitNo, "no"}, message, ""} }

// conflict says that somebody is in the way.
func conflict(message, hint string) error {
	return &failure{ending{exitConflict, "conflict"}, message, hint}
}

// late says that what was waited for did not happen in time.
func late(message, hint string) error {
	return &failure{ending{exitTimeout, "timeout"}, message, hint}
}

// notFound says that there is no such thing.
func notFound(message string) error {
	return &failure{ending{exitNotFound, "not_found"}, message, ""}
}

// notInstalled says that a program is missing.
func notInstalled(message string) error {
	return &failure{ending{exitUnable, "not_installed"}, message, ""}
}

// passedOn is the end of a command that ran in our place, which has said its own words.
func passedOn(code int) error {
	return &failure{ending{exit: code}, fmt.Sprintf("the command ended with exit code %d", code), ""}
}

// exitOf is the exit code of a command that ends with this error.
func exitOf(err error) int {
	e, _ := end(err)
	return e.exit
}

// end is the one place where errors become exit codes, with what to do about each in one line or several; "" if nothing helps.
func end(err error) (e ending, hint string) {
	var (
		known     *failure
		conf      *config.Error
		ambiguous *discover.AmbiguousError
		missing   *launch.NotInstalledError
		unable    *launch.UnsupportedError
		untrusted *discover.UntrustedError
		missingID *discover.NotFoundError
	)
	switch {
	case err == nil:
		return ending{exit: exitOK}, ""
	case errors.Is(err, syscall.EPIPE): // the reader has seen enough
		return ending{exit: exitNoReader}, ""
	case errors.Is(err, context.Canceled):
		return ending{exitInterrupted, "interrupted"}, ""
	case errors.Is(err, errPartial):
		return ending{exit: exitPartial}, ""
	case errors.Is(err, errNo):
		return ending{exit: exitNo}, ""
	case errors.As(err, &known):
		return known.ending, known.hint
	case errors.As(err, &conf) && conf.Unreadable:
		return ending{exitUsage, "usage"}, "check its path, and that it may be read"
	case conf != nil:
		return ending{exitUsage, "usage"}, "fix or remove the file; docs/cli.md has every key"
	case errors.Is(err, worktree.ErrNoWorktree):
		return ending{exitNotFound, "not_found"}, "agentctl worktree list shows what there is"
	case errors.As(err, &ambiguous):
		return ending{exitAmbiguous, "ambiguous"}, ambiguousHint(ambiguous)
	case errors.As(err, &missingID) && isNumber(missingID.Arg):
		return ending{exitNotFound, "not_found"}, "did you mean pid:" + missingID.Arg + "?"
	case errors.Is(err, discover.ErrNotFound):
		return ending{exitNotFound, "not_found"}, "agentctl list -a --since all shows every session"
	case errors.Is(err, discover.ErrUnreadable):
		return ending{exitPartial, "partial"}, "the warnings name the file; agentctl doctor checks every store"
	case errors.As(err, &untrusted):
		return ending{exitConflict, "conflict"}, nameHome(untrusted)
	case errors.Is(err, launch.ErrSessionTimeout):
		return ending{exitTimeout, "timeout"}, ""
	case errors.As(err, &missing):
		return ending{exitUnable, "not_installed"}, ""
	case errors.As(err, &unable):
		return ending{exitUnable, "unsupported"}, ""
	}
	return ending{exitFailed, "failed"}, ""
}

// finish reports why the command failed, if it did, and returns the exit code.
func (env Env) finish(err error) int {
	e, hint := end(err)
	if e.code == "" {
		return e.exit
	}
	p := output.Error{Code: e.code, Message: plain(err), Hint: hint}
	if errors.Is(err, context.Canceled) {
		p.Message = "interrupted"
	}
	if ambiguous := (*discover.AmbiguousError)(nil); env.report.json && errors.As(err, &ambiguous) {
		p.Hint = "use more of the ID, or ID@DIR with the session's directory or its agent's home"
		for _, s := range shownCandidates(ambiguous) {
			p.Candidates = append(p.Candidates, output.NewSession(s))
		}
	}
	env.report.fail(p)
	return e.exit
}

// wantsJSON reports whether the command line asks for JSON, which even an error in it answers in.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	if i := slices.Index(args, "--format"); i >= 0 && i+1 < len(args) && args[i+1] == formatJSON || slices.Contains(args, "--format="+formatJSON) {
		return true
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		value, joined := strings.CutPrefix(arg, "--json=")
		yes, _ := strconv.ParseBool(value)
		return arg == "--json" || joined && yes
	})
}

// warning reports a warning.
func (env Env) warning(message string) { env.report.warning(output.Warning{Message: message}) }

// warn says what could not be read, each once in a call. With any warning the command ends as partial.
func (env Env) warn(warnings []*discover.Warning) error {
	for _, w := range warnings {
		env.report.warnOnce(output.Warning{Message: plain(w), Adapter: string(w.Agent), Path: w.Path})
	}
	if len(warnings) > 0 {
		return errPartial
	}
	return nil
}

// unread is the warning that a part of a session cannot be read.
func unread(s discover.Session, err error) *discover.Warning {
	if w, ok := errors.AsType[*discover.Warning](err); ok {
		return w
	}
	return &discover.Warning{Agent: s.Agent, Path: s.Path, Err: err}
}
