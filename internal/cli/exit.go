package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/object"
	"agentctl/launch"
	"agentctl/launch/worktree"
)

// The exit codes. docs/cli.md lists them; a test compares.
const (
	ExitOK          = 0
	ExitFailed      = 1   // failure
	ExitUsage       = 2   // wrong command line or configuration
	ExitNotFound    = 3   // no such session, lock or worktree
	ExitAmbiguous   = 4   // the ID means several sessions
	ExitConflict    = 5   // another session, lock or process conflicts
	ExitPartial     = 6   // printed, but something could not be read
	ExitUnable      = 7   // the agent is not installed, or cannot do that
	ExitNo          = 8   // the answer is no
	ExitTimeout     = 124 // not in time
	ExitInterrupted = 130 // SIGINT, SIGTERM or SIGHUP
	ExitNoReader    = 141 // the reader of stdout has closed it: as a shell reports SIGPIPE
)

// status is how a command ends: the exit code, and the error's name in JSON, "" if no error is printed.
type status struct {
	code int
	name string
}

// errorNamed returns the status of an error by its name in JSON; that of a failure if there is no such name.
func errorNamed(name string) status {
	codes := map[string]int{
		"usage":         ExitUsage,
		"not_found":     ExitNotFound,
		"ambiguous":     ExitAmbiguous,
		"conflict":      ExitConflict,
		"partial":       ExitPartial,
		"not_installed": ExitUnable,
		"unsupported":   ExitUnable,
		"no":            ExitNo,
		"timeout":       ExitTimeout,
		"interrupted":   ExitInterrupted,
	}
	if code, ok := codes[name]; ok {
		return status{code, name}
	}
	return status{ExitFailed, failed}
}

// Failure is an error with its exit code and a hint. [classify] has the exit codes of other packages' errors.
type Failure struct {
	status
	message, Hint string
	// candidates are the sessions that an ID may mean on another host.
	candidates []object.Session
}

func (f *Failure) Error() string { return f.message }

// Errors that set the exit code only: nothing is left to print.
var (
	// ErrPartial says that something could not be read; warnings have named it.
	ErrPartial = errors.New("something could not be read")
	// ErrNo answers a question with no, by the exit code alone.
	ErrNo = errors.New("no")
)

func AnswerNo(message string) error { return &Failure{errorNamed("no"), message, "", nil} }

// ConflictError says that a session, lock or process of another conflicts.
func ConflictError(message, hint string) error {
	return &Failure{errorNamed("conflict"), message, hint, nil}
}

// TimeoutError says that something did not happen in time.
func TimeoutError(message, hint string) error {
	return &Failure{errorNamed("timeout"), message, hint, nil}
}

// NotFoundError says that something named in the command line does not exist.
func NotFoundError(message string) error {
	return &Failure{errorNamed("not_found"), message, "", nil}
}

// UnableError says that the agent, or what it runs in, cannot do what was asked for.
func UnableError(message, hint string) error {
	return &Failure{errorNamed("unsupported"), message, hint, nil}
}

func NotInstalledError(message string) error {
	return &Failure{errorNamed("not_installed"), message, "", nil}
}

// ExitWith ends with the exit code of a command that was run; nothing is printed about it.
func ExitWith(code int) error {
	return &Failure{status{code: code}, fmt.Sprintf("the command ended with exit code %d", code), "", nil}
}

// EndOfStream is the error of a command that runs until it is interrupted: that is its end, and no failure.
func EndOfStream(err error) error {
	if errors.Is(err, context.Canceled) {
		return ExitWith(ExitInterrupted)
	}
	return err
}

// ExitCode is the exit code of a command that ends with this error.
func ExitCode(err error) int {
	e, _ := classify(err)
	return e.code
}

// classify is the one place where errors become exit codes. hint says what to do, in one line or several; "" if nothing
// helps.
func classify(err error) (e status, hint string) {
	var (
		known     *Failure
		conf      *config.Error
		ambiguous *discover.AmbiguousError
		missing   *launch.NotInstalledError
		unable    *launch.UnsupportedError
		untrusted *discover.UntrustedError
		missingID *discover.NotFoundError
		stopped   *launch.StoppedError
		unclear   *launch.UnclearError
	)
	switch {
	case err == nil:
		return status{code: ExitOK}, ""
	case errors.Is(err, syscall.EPIPE): // the reader has closed the pipe
		return status{code: ExitNoReader}, ""
	case errors.Is(err, context.Canceled):
		return errorNamed("interrupted"), ""
	case errors.Is(err, ErrPartial):
		return status{code: ExitPartial}, ""
	case errors.Is(err, ErrNo):
		return status{code: ExitNo}, ""
	case errors.As(err, &known):
		return known.status, known.Hint
	case errors.As(err, &conf) && conf.Unreadable:
		return errorNamed("usage"), "check its path, and that it may be read"
	case conf != nil:
		return errorNamed("usage"), "fix or remove the file; docs/cli.md has every key"
	case errors.Is(err, worktree.ErrNoWorktree):
		return errorNamed("not_found"), "agentctl worktree list shows what there is"
	case errors.As(err, &ambiguous):
		return errorNamed("ambiguous"), candidatesHint(SessionObjects(ambiguous.Candidates), ambiguous.Total)
	case errors.As(err, &missingID) && isNumber(missingID.Arg):
		return errorNamed("not_found"), "did you mean pid:" + missingID.Arg + "?"
	case errors.As(err, &missingID) && CheckDirectory(missingID.Arg) == nil:
		return errorNamed("not_found"), Program + " list -a --cwd " + quoted(missingID.Arg) + " shows the sessions of that directory"
	case errors.Is(err, discover.ErrNotFound):
		return errorNamed("not_found"), "agentctl list -a --since all shows every session"
	case errors.Is(err, discover.ErrUnreadable):
		return errorNamed("partial"), "the warnings name the cause; agentctl doctor checks every store"
	case errors.As(err, &untrusted):
		return errorNamed("conflict"), trustHint(untrusted)
	case errors.As(err, &stopped), errors.As(err, &unclear), errors.Is(err, launch.ErrUnreachable), errors.Is(err, launch.ErrAnswered),
		errors.Is(err, launch.ErrSeveral):
		return errorNamed("conflict"), ""
	case errors.Is(err, launch.ErrSessionTimeout), errors.Is(err, context.DeadlineExceeded):
		return errorNamed("timeout"), ""
	case errors.As(err, &missing):
		return errorNamed("not_installed"), ""
	case errors.As(err, &unable):
		return errorNamed("unsupported"), ""
	}
	return errorNamed(failed), ""
}

// Finish reports the error that ends the command, if any, and returns the exit code.
func (env Env) Finish(err error) int {
	e, hint := classify(err)
	if e.name == "" {
		return e.code
	}
	p := object.Error{Code: e.name, Message: ErrorText(err), Hint: hint}
	if errors.Is(err, context.Canceled) {
		p.Message = "interrupted"
	}
	if ambiguous := (*discover.AmbiguousError)(nil); env.Report.JSON && errors.As(err, &ambiguous) {
		p.Hint = "use more of the ID, or ID@DIR with the session's directory or its agent's home"
		p.Candidates = SessionObjects(ambiguous.Candidates[:min(len(ambiguous.Candidates), maxCandidates)])
	}
	if known := (*Failure)(nil); errors.As(err, &known) {
		p.Candidates = append(p.Candidates, known.candidates...)
	}
	env.Report.fail(p)
	return e.code
}

// failed is the name of an error that has no other one.
const failed = "failed"

// ErrorText is the text of an error without the names of system calls that Go's errors begin with ("lstat /x: no such file
// or directory").
func ErrorText(err error) string { return withoutSyscalls(err.Error(), err) }

// withoutSyscalls removes from a text the names of the system calls in an error and in those that it wraps.
func withoutSyscalls(text string, err error) string {
	short := ""
	switch e := err.(type) { //nolint:errorlint // it is walked by hand, each error by itself
	case *fs.PathError:
		short = e.Path + ": " + e.Err.Error()
	case *os.LinkError:
		short = e.New + ": " + e.Err.Error()
	case *os.SyscallError:
		short = e.Err.Error()
	case interface{ Unwrap() error }:
		return withoutSyscalls(text, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			text = withoutSyscalls(text, inner)
		}
	}
	if short != "" {
		text = strings.ReplaceAll(text, err.Error(), short)
	}
	return text
}

// NewUsageError makes an error in the command line, with what to do about it.
func NewUsageError(message, hint string) *Failure {
	return &Failure{errorNamed("usage"), message, hint, nil}
}

// UsageError makes a usage error whose hint is the help of the verb. An error among args is printed by [ErrorText].
func UsageError(verb, format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = ErrorText(err)
		}
	}
	return NewUsageError(fmt.Sprintf(format, args...), Program+" "+verb+" --help")
}
