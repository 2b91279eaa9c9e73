package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/internal/object"
	"agentctl/internal/remote"
)

const (
	// maxObject bounds one object that a host prints, in bytes: the longest but for exports are messages with the output of a tool.
	maxObject = 32 << 20
	// maxArray bounds an export, and an array, whose objects are kept until all have arrived. A stream of objects has no bound.
	maxArray = 96 << 20
)

// errUnreadAnswer tells the writer of an answer that the rest is not read.
var errUnreadAnswer = errors.New("the rest of the answer is not read")

// badAnswer is the error of an answer that breaks the contract.
func badAnswer(why error) error { return fmt.Errorf("its answer is not understood: %v", why) } //nolint:errorlint // what it is about is no error of this machine

// decodeObjects calls take with each object of an answer: an array of objects, or one after another.
func decodeObjects(in io.Reader, newObject func() object.Answer, take func(object.Answer) error) error {
	limit := int64(maxObject)
	if _, long := newObject().(*object.Export); long {
		limit = maxArray
	}
	buffered := bufio.NewReader(in)
	left := &io.LimitedReader{R: buffered, N: limit} // of one object
	unlessEnd := func(err error) error {
		switch {
		case left.N <= 0:
			err = fmt.Errorf("an object has more than %d MB", limit>>20)
		case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil // the exit code tells whether the answer is complete
		}
		return badAnswer(err)
	}
	r := json.NewDecoder(left)
	first, _ := buffered.Peek(1) // the next read returns the error again
	array := string(first) == "["
	if array {
		_, _ = r.Token()
	}
	for !array || r.More() {
		obj := newObject()
		err := r.Decode(obj)
		if err == nil {
			err = obj.Check()
		}
		if err == nil && array && r.InputOffset() > maxArray {
			err = fmt.Errorf("it has more than %d MB", maxArray>>20)
		}
		if err != nil {
			return unlessEnd(err)
		}
		left.N = limit
		if err := take(obj); err != nil {
			return err
		}
	}
	_, err := r.Token()
	return unlessEnd(err)
}

const (
	// maxReport bounds a line that a host prints on stderr, in bytes: an error with the candidates for an ID.
	maxReport = 1 << 20
	// maxReports bounds how many of its lines are shown.
	maxReports = 1000
)

// hostReports reads the stderr of a host: it reports the warnings and hints, and keeps the error.
type hostReports struct {
	env    Env
	call   HostCall
	shown  int
	failed *object.Error
	// dropped reports whether the caller wants no more reports.
	dropped func() bool
}

func (h *hostReports) line(line []byte) {
	var d object.Diagnostic
	if json.Unmarshal(line, &d) != nil || h.dropped() {
		return
	}
	if d.Error != nil {
		h.failed = d.Error
		return
	}
	if h.shown++; h.shown > maxReports {
		return
	}
	name := h.call.Target.Name
	switch {
	case d.Warning != nil:
		w := *d.Warning
		w.Host, w.Message = name, name+": "+w.Message
		h.env.Report.warnOnce(w)
	case d.Hint != "":
		h.env.Report.Hint(name + ": " + d.Hint)
	}
}

// callError returns the error of a call that has ended so. It warns of a host whose answer is missing or incomplete.
func (h *hostReports) callError(code int, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err == nil && (code == ExitOK || code == ExitNoReader):
		return nil
	case err == nil && code == ExitInterrupted:
		err = &remote.Error{Kind: remote.Cut, Text: "its agentctl was interrupted there"}
	case err == nil && h.failed != nil:
		return h.failure()
	case err == nil && code == ExitPartial:
		return ErrPartial
	case err == nil && code == ExitNo:
		return ErrNo
	case err == nil:
		return ExitWith(code)
	}
	if bad, ok := errors.AsType[*remote.Error](err); ok && mayChange(h.call.Flags) && (bad.Kind == remote.Cut || bad.Kind == remote.Silent) {
		err = fmt.Errorf("%w; what was asked for may have been done", err)
	}
	h.env.WarnOfHost(h.call.Target, err)
	return ErrPartial
}

func (h *hostReports) failure() error {
	name, message := h.call.Target.Name, h.prefixIDs(h.failed.Message)
	if message == h.failed.Message { // no ID in it names the host
		message = name + ": " + message
	}
	f := &Failure{errorNamed(h.failed.Code), message, h.localHint(h.failed.Hint), nil}
	for _, s := range h.failed.Candidates[:min(len(h.failed.Candidates), maxCandidates)] {
		s.Host = name
		if s.Check() == nil {
			f.candidates = append(f.candidates, s)
		}
	}
	if len(f.candidates) > 0 && !h.env.Report.JSON {
		f.Hint = candidatesHint(f.candidates, len(f.candidates))
	}
	return f
}

// prefixIDs puts H: before the requested IDs in a message of the host.
func (h *hostReports) prefixIDs(message string) string {
	for _, id := range h.call.ids {
		if id, _, _ = strings.Cut(id, "@"); id == "" || !utf8.ValidString(id) {
			continue
		}
		ids := regexp.MustCompile(`(^|[^\w-])(` + regexp.QuoteMeta(id) + `[\w-]*)`)
		message = ids.ReplaceAllString(message, "${1}"+h.call.Target.Name+":${2}")
	}
	return message
}

// localHint rewrites the commands and processes in a hint of the host such that they mean the same on this machine. A hint without any gets the name of the host.
func (h *hostReports) localHint(hint string) string {
	name := h.call.Target.Name
	changed := regexp.MustCompile(`\b(pid:\d+|`+Program+` ([a-z]+))`).ReplaceAllStringFunc(hint, func(text string) string {
		verb, isCommand := strings.CutPrefix(text, Program+" ")
		switch {
		case !isCommand:
			return name + ":" + text
		case verbNamed(verb).TakesHosts:
			return text + " --host " + name
		}
		return text
	})
	if hint == "" || changed != hint {
		return changed
	}
	return "on " + name + ": " + hint
}

// WarnOfHost reports a host whose answer is missing or incomplete, and what to do about it.
func (env Env) WarnOfHost(t remote.Target, err error) {
	env.Report.warning(object.Warning{Message: t.Name + ": " + ErrorText(err), Host: t.Name})
	bad := (*remote.Error)(nil)
	if !errors.As(err, &bad) {
		return
	}
	switch bad.Kind {
	case remote.Unreachable, remote.Silent:
		env.Report.Hint("ssh " + t.Destination + " must work without a password, from here")
	case remote.Missing, remote.Version:
		env.Report.Hint("agentctl host install " + t.Name + " copies this program there")
	case remote.Shell:
		env.Report.Hint("ssh " + t.Destination + " must run a command there, as in ssh " + t.Destination + " uname")
	case remote.Cut:
		env.Report.Hint("what was started there goes on: agentctl list --host " + t.Name)
	}
}

// combine returns the error of a command that has asked several hosts, of those of its calls. elsewhere: a session that is not found is an
// error only if no host has it.
func combine(all []error, elsewhere bool) error {
	if len(all) == 1 {
		return all[0]
	}
	var failed []error
	ok, partial, no := false, false, false
	for _, err := range all {
		switch {
		case err == nil:
			ok = true
		case errors.Is(err, ErrPartial):
			partial = true
		case errors.Is(err, ErrNo):
			no = true
		default:
			failed = append(failed, err)
		}
	}
	if elsewhere && (ok || no) {
		failed = slices.DeleteFunc(failed, func(err error) bool { return ExitCode(err) == ExitNotFound })
	}
	switch {
	case len(failed) > 0:
		return joined(failed)
	case partial:
		return ErrPartial
	case no && !ok:
		return ErrNo
	}
	return nil
}

// joined is the error of several hosts, with the exit code of the first one.
func joined(failed []error) error {
	first, ok := errors.AsType[*Failure](failed[0])
	if len(failed) == 1 || !ok {
		return failed[0]
	}
	out := *first
	for _, err := range failed[1:] {
		out.message += "; " + ErrorText(err)
	}
	return &out
}
