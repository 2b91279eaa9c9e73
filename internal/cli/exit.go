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
	for _, s := range errorStatuses() {
		if s.name == name {
			return s
		}
	}
	return status{ExitFailed, failed}
}

func errorStatuses() []status {
	return []status{
		{ExitFailed, failed},
		{ExitUsage, "usage"},
		{ExitNotFound, "not_found"},
		{ExitAmbiguous, "ambiguous"},
		{ExitConflict, "conflict"},
		{ExitPartial, "partial"},
		{ExitUnable, "not_installed"},
		{ExitUnable, "unsupported"},
		{ExitNo, "no"},
		{ExitTimeout, "timeout"},
		{ExitInterrupted, "interrupted"},
	}
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
	)
	switch {
	case err == nil:
		return status{code: ExitOK}, ""
	case errors.Is(err, syscall.EPIPE): // the reader has seen enough
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
		return errorNamed("ambiguous"), ambiguousHint(ambiguous)
	case errors.As(err, &missingID) && isNumber(missingID.Arg):
		return errorNamed("not_found"), "did you mean pid:" + missingID.Arg + "?"
	case errors.Is(err, discover.ErrNotFound):
		return errorNamed("not_found"), "agentctl list -a --since all shows every session"
	case errors.Is(err, discover.ErrUnreadable):
		return errorNamed("partial"), "the warnings name the file; agentctl doctor checks every store"
	case errors.As(err, &untrusted):
		return errorNamed("conflict"), trustHint(untrusted)
	case errors.Is(err, launch.ErrSessionTimeout):
		return errorNamed("timeout"), ""
	case errors.As(err, &missing):
		return errorNamed("not_installed"), ""
	case errors.As(err, &unable):
		return errorNamed("unsupported"), ""
	}
	return errorNamed(failed), ""
}

// Finish reports the error that ends the command, if any, and returns the exit code.
func (f Factory) Finish(err error) int {
	e, hint := classify(err)
	if e.name == "" {
		return e.code
	}
	p := object.Error{Code: e.name, Message: ErrorText(err), Hint: hint}
	if errors.Is(err, context.Canceled) {
		p.Message = "interrupted"
	}
	if ambiguous := (*discover.AmbiguousError)(nil); f.Report.JSON && errors.As(err, &ambiguous) {
		p.Hint = "use more of the ID, or ID@DIR with the session's directory or its agent's home"
		p.Candidates = SessionObjects(ambiguous.Candidates[:min(len(ambiguous.Candidates), maxCandidates)])
	}
	if known := (*Failure)(nil); errors.As(err, &known) {
		p.Candidates = append(p.Candidates, known.candidates...)
	}
	f.Report.fail(p)
	return e.code
}

// WantsJSON reports whether the command line asks for JSON. Errors in the command line itself are printed as JSON then.
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

func (f Factory) Warn(message string) { f.Report.warning(object.Warning{Message: message}) }

// ReportWarnings reports warnings, each once per command. It returns [ErrPartial] if there are any.
func (f Factory) ReportWarnings(warnings []*discover.Warning) error {
	for _, w := range warnings {
		f.Report.warnOnce(object.Warning{Message: ErrorText(w), Adapter: string(w.Agent), Path: w.Path})
	}
	if len(warnings) > 0 {
		return ErrPartial
	}
	return nil
}

func UnreadWarning(s discover.Session, err error) *discover.Warning {
	if w, ok := errors.AsType[*discover.Warning](err); ok {
		return w
	}
	return &discover.Warning{Agent: s.Agent, Path: s.Path, Err: err}
}
