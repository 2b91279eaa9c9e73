package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/render"
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

// Silent ways of ending: all there is to say is said.
var (
	// errPartial: warnings say what was left out.
	errPartial = errors.New("something could not be read")
	// errNo: the exit code is the answer.
	errNo = errors.New("no")
)

// refusal is a plain no with words.
type refusal struct{ message string }

func (r *refusal) Error() string { return r.message }

// conflictError: somebody is in the way.
type conflictError struct{ message, hint string }

func (e *conflictError) Error() string { return e.message }

// timeoutError: what was waited for did not happen in time.
type timeoutError struct{ message, hint string }

func (e *timeoutError) Error() string { return e.message }

// ending is how a command ends, in all its forms.
type ending struct {
	exit int
	// code is the error's name in JSON.
	code string
	// silent: nothing is printed.
	silent bool
}

// end is the one place where errors become exit codes.
func end(err error) ending {
	var (
		usage     *usageError
		conf      *config.Error
		ambiguous *discover.AmbiguousError
		no        *refusal
		conflict  *conflictError
		timeout   *timeoutError
		missing   *launch.NotInstalledError
		unable    *launch.UnsupportedError
		command   *passedOn
		unlocked  *noLockError
		untrusted *discover.UntrustedError
	)
	switch {
	case err == nil:
		return ending{exit: exitOK, silent: true}
	case errors.Is(err, syscall.EPIPE): // the reader has seen enough
		return ending{exit: exitNoReader, silent: true}
	case errors.Is(err, context.Canceled):
		return ending{exit: exitInterrupted, code: "interrupted"}
	case errors.As(err, &usage), errors.As(err, &conf):
		return ending{exit: exitUsage, code: "usage"}
	case errors.Is(err, worktree.ErrNoWorktree):
		return ending{exit: exitNotFound, code: "not_found"}
	case errors.As(err, &ambiguous):
		return ending{exit: exitAmbiguous, code: "ambiguous"}
	case errors.Is(err, discover.ErrNotFound):
		return ending{exit: exitNotFound, code: "not_found"}
	case errors.Is(err, discover.ErrUnreadable):
		return ending{exit: exitPartial, code: "partial"}
	case errors.Is(err, errPartial):
		return ending{exit: exitPartial, silent: true}
	case errors.Is(err, errNo):
		return ending{exit: exitNo, silent: true}
	case errors.As(err, &no):
		return ending{exit: exitNo, code: "no"}
	case errors.As(err, &conflict), errors.As(err, &untrusted):
		return ending{exit: exitConflict, code: "conflict"}
	case errors.As(err, &timeout), errors.Is(err, launch.ErrUnproven):
		return ending{exit: exitTimeout, code: "timeout"}
	case errors.As(err, &command): // its own words are said
		return ending{exit: command.code, silent: true}
	case errors.As(err, &unlocked):
		return ending{exit: exitNotFound, code: "not_found"}
	case errors.As(err, &missing), errors.Is(err, errNoCurl):
		return ending{exit: exitUnable, code: "not_installed"}
	case errors.As(err, &unable):
		return ending{exit: exitUnable, code: "unsupported"}
	}
	return ending{exit: exitFailed, code: "failed"}
}

// finish reports why the command failed, if it did, and returns the exit code.
func (env Env) finish(err error) int {
	e := end(err)
	if e.silent {
		return e.exit
	}
	p := render.Problem{Code: e.code, Message: plain(err), Hint: env.hint(err)}
	if errors.Is(err, context.Canceled) {
		p.Message = "interrupted"
	}
	if ambiguous := (*discover.AmbiguousError)(nil); env.report.json && errors.As(err, &ambiguous) {
		p.Hint = "use more of the ID, or ID@DIR with the session's directory or its agent's home"
		for _, s := range shownCandidates(ambiguous) {
			p.Candidates = append(p.Candidates, render.Of(s))
		}
	}
	env.report.fail(p)
	return e.exit
}

// hint is what to do about an error, in one line or several; "" if nothing helps.
func (env Env) hint(err error) string {
	var usage *usageError
	var conf *config.Error
	var ambiguous *discover.AmbiguousError
	var conflict *conflictError
	var timeout *timeoutError
	var untrusted *discover.UntrustedError
	var notFound *discover.NotFoundError
	switch {
	case errors.As(err, &untrusted):
		return nameHome(untrusted)
	case errors.As(err, &conflict):
		return conflict.hint
	case errors.As(err, &timeout):
		return timeout.hint
	case errors.As(err, &usage):
		return usage.hint
	case errors.Is(err, worktree.ErrNoWorktree):
		return "agentctl worktree list shows what there is"
	case errors.As(err, &conf):
		if conf.Unread {
			return "check its path, and that it may be read"
		}
		return "fix or remove the file; docs/cli.md has every key"
	case errors.As(err, &ambiguous):
		return ambiguousHint(ambiguous)
	case errors.Is(err, discover.ErrUnreadable):
		return "the warnings name the file; agentctl doctor checks every store"
	case errors.As(err, &notFound) && isNumber(notFound.Arg):
		return "did you mean pid:" + notFound.Arg + "?"
	case errors.Is(err, discover.ErrNotFound):
		return "agentctl list -a --since all shows every session"
	}
	return ""
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

// say reports a warning, or ("error") one of several failures.
func (env Env) say(kind, message string) {
	if kind == "error" {
		env.report.failure(message)
		return
	}
	env.report.warning(render.Notice{Message: message})
}

// warn says what could not be read. With any warning the command ends as partial.
func (env Env) warn(warnings []*discover.Warning) error {
	for _, w := range warnings {
		env.report.warning(noticeOf(w))
	}
	if len(warnings) > 0 {
		return errPartial
	}
	return nil
}

// noticeOf is a warning as it is reported.
func noticeOf(w *discover.Warning) render.Notice {
	return render.Notice{Message: plain(w), Adapter: string(w.Agent), Path: w.Path}
}
