package cmdutil

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
	ExitOK          = 0
	ExitFailed      = 1   // failure
	ExitUsage       = 2   // wrong command line or configuration
	exitNotFound    = 3   // no such session, lock or worktree
	ExitAmbiguous   = 4   // the ID means several sessions
	ExitConflict    = 5   // somebody is in the way
	ExitPartial     = 6   // printed, but something could not be read
	ExitUnable      = 7   // the agent is not installed, or cannot do that
	ExitNo          = 8   // the answer is no
	ExitTimeout     = 124 // not in time
	ExitInterrupted = 130 // SIGINT, SIGTERM or SIGHUP
	ExitNoReader    = 141 // nobody reads stdout any more: what a shell says of a program that SIGPIPE has ended
)

// status is how a command ends: its exit code, and the error's name in JSON; "" where nothing is printed.
type status struct {
	code int
	name string
}

// Failure is an error that knows how the command ends, and what to do about it. The errors of other packages have their
// ending in [classify].
type Failure struct {
	status
	message, Hint string
}

func (f *Failure) Error() string { return f.message }

// Silent ways of ending: all there is to say is said.
var (
	// ErrPartial: warnings say what was left out.
	ErrPartial = errors.New("something could not be read")
	// ErrNo: the exit code is the answer.
	ErrNo = errors.New("no")
)

// AnswerNo is a plain no with words.
func AnswerNo(message string) error { return &Failure{status{ExitNo, "no"}, message, ""} }

// ConflictError says that somebody is in the way.
func ConflictError(message, hint string) error {
	return &Failure{status{ExitConflict, "conflict"}, message, hint}
}

// TimeoutError says that what was waited for did not happen in time.
func TimeoutError(message, hint string) error {
	return &Failure{status{ExitTimeout, "timeout"}, message, hint}
}

// NotFoundError says that there is no such thing.
func NotFoundError(message string) error {
	return &Failure{status{exitNotFound, "not_found"}, message, ""}
}

// NotInstalledError says that a program is missing.
func NotInstalledError(message string) error {
	return &Failure{status{ExitUnable, "not_installed"}, message, ""}
}

// ExitWith is the end of a command that ran in our place, which has said its own words.
func ExitWith(code int) error {
	return &Failure{status{code: code}, fmt.Sprintf("the command ended with exit code %d", code), ""}
}

// ExitCode is the exit code of a command that ends with this error.
func ExitCode(err error) int {
	e, _ := classify(err)
	return e.code
}

// classify is the one place where errors become exit codes, with what to do about each in one line or several; "" if nothing helps.
func classify(err error) (e status, hint string) {
	var (
		known     *Failure
		conf      *config.Error
		ambiguous *discover.AmbiguousError
		missing   *launch.NotInstalledError
		unable    *launch.UnsupportedError
		untrusted *discover.UntrustedError
		missingID *discover.NotFoundError
	)
	switch {
	case err == nil:
		return status{code: ExitOK}, ""
	case errors.Is(err, syscall.EPIPE): // the reader has seen enough
		return status{code: ExitNoReader}, ""
	case errors.Is(err, context.Canceled):
		return status{ExitInterrupted, "interrupted"}, ""
	case errors.Is(err, ErrPartial):
		return status{code: ExitPartial}, ""
	case errors.Is(err, ErrNo):
		return status{code: ExitNo}, ""
	case errors.As(err, &known):
		return known.status, known.Hint
	case errors.As(err, &conf) && conf.Unreadable:
		return status{ExitUsage, "usage"}, "check its path, and that it may be read"
	case conf != nil:
		return status{ExitUsage, "usage"}, "fix or remove the file; docs/cli.md has every key"
	case errors.Is(err, worktree.ErrNoWorktree):
		return status{exitNotFound, "not_found"}, "agentctl worktree list shows what there is"
	case errors.As(err, &ambiguous):
		return status{ExitAmbiguous, "ambiguous"}, ambiguousHint(ambiguous)
	case errors.As(err, &missingID) && isNumber(missingID.Arg):
		return status{exitNotFound, "not_found"}, "did you mean pid:" + missingID.Arg + "?"
	case errors.Is(err, discover.ErrNotFound):
		return status{exitNotFound, "not_found"}, "agentctl list -a --since all shows every session"
	case errors.Is(err, discover.ErrUnreadable):
		return status{ExitPartial, "partial"}, "the warnings name the file; agentctl doctor checks every store"
	case errors.As(err, &untrusted):
		return status{ExitConflict, "conflict"}, trustHint(untrusted)
	case errors.Is(err, launch.ErrSessionTimeout):
		return status{ExitTimeout, "timeout"}, ""
	case errors.As(err, &missing):
		return status{ExitUnable, "not_installed"}, ""
	case errors.As(err, &unable):
		return status{ExitUnable, "unsupported"}, ""
	}
	return status{ExitFailed, "failed"}, ""
}

// Finish reports why the command failed, if it did, and returns the exit code.
func (f Factory) Finish(err error) int {
	e, hint := classify(err)
	if e.name == "" {
		return e.code
	}
	p := output.Error{Code: e.name, Message: ErrorText(err), Hint: hint}
	if errors.Is(err, context.Canceled) {
		p.Message = "interrupted"
	}
	if ambiguous := (*discover.AmbiguousError)(nil); f.Report.JSON && errors.As(err, &ambiguous) {
		p.Hint = "use more of the ID, or ID@DIR with the session's directory or its agent's home"
		for _, s := range shownCandidates(ambiguous) {
			p.Candidates = append(p.Candidates, output.NewSession(s))
		}
	}
	f.Report.fail(p)
	return e.code
}

// WantsJSON reports whether the command line asks for JSON, which even an error in it answers in.
func WantsJSON(args []string) bool {
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

// Warn reports a warning.
func (f Factory) Warn(message string) { f.Report.warning(output.Warning{Message: message}) }

// ReportWarnings says what could not be read, each once in a call. With any warning the command ends as partial.
func (f Factory) ReportWarnings(warnings []*discover.Warning) error {
	for _, w := range warnings {
		f.Report.warnOnce(output.Warning{Message: ErrorText(w), Adapter: string(w.Agent), Path: w.Path})
	}
	if len(warnings) > 0 {
		return ErrPartial
	}
	return nil
}

// UnreadWarning is the warning that a part of a session cannot be read.
func UnreadWarning(s discover.Session, err error) *discover.Warning {
	if w, ok := errors.AsType[*discover.Warning](err); ok {
		return w
	}
	return &discover.Warning{Agent: s.Agent, Path: s.Path, Err: err}
}
