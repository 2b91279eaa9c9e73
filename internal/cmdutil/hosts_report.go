package cmdutil

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"agentctl/internal/host"
	"agentctl/internal/output"
)

const (
	// maxReport bounds a line that a host prints on stderr, in bytes: an error with the candidates for an ID.
	maxReport = 1 << 20
	// maxReports bounds how many of its lines are shown.
	maxReports = 1000
)

// hostReports takes what a host prints on stderr: warnings and hints, which it reports, and the error, which it keeps.
type hostReports struct {
	factory Factory
	host    string
	shown   int
	failed  *output.Error
}

func (r *hostReports) line(line []byte) {
	var d output.Diagnostic
	if json.Unmarshal(line, &d) != nil {
		return
	}
	if d.Error != nil {
		r.failed = d.Error
		return
	}
	if r.shown++; r.shown > maxReports {
		return
	}
	switch {
	case d.Warning != nil:
		w := *d.Warning
		w.Host, w.Message = r.host, r.host+": "+w.Message
		r.factory.Report.warnOnce(w)
	case d.Hint != "":
		r.factory.Report.Hint(r.host + ": " + d.Hint)
	}
}

// hostEnd is how the call of a host has ended.
type hostEnd struct {
	host string
	code int
	err  error // nil with [ExitOK]
	// elsewhere: that the session is not found is an error only if no other host has it.
	elsewhere bool
}

// answer returns how the call has ended, and warns of a host that gives no whole answer, with what to do.
func (r *hostReports) answer(code int, err error) hostEnd {
	a := hostEnd{host: r.host, code: code}
	if err != nil {
		a.err = err
		if !errors.Is(err, context.Canceled) {
			r.warnNoAnswer(err)
			a.code, a.err = ExitPartial, ErrPartial
		}
		return a
	}
	switch {
	case code == ExitOK || code == ExitNoReader:
		a.code = ExitOK
	case r.failed != nil:
		a.err = r.failure()
	case code == ExitPartial:
		a.err = ErrPartial
	case code == ExitNo:
		a.err = ErrNo
	default:
		a.err = ExitWith(code)
	}
	return a
}

func (r *hostReports) failure() error {
	f := &Failure{errorNamed(r.failed.Code), r.failed.Message, r.failed.Hint, nil}
	if f.code == ExitInterrupted { // it was ended there
		f.status = errorNamed(failed)
	}
	f.message = r.host + ": " + f.message
	var lines []string
	for _, s := range r.failed.Candidates[:min(len(r.failed.Candidates), maxCandidates)] {
		s.Host = r.host
		if s.Check() == nil {
			f.candidates = append(f.candidates, s)
			lines = append(lines, candidateText(&s, s.Name()))
		}
	}
	if len(lines) > 0 && !r.factory.Report.JSON {
		f.Hint = strings.Join(lines, "\n")
	} else if f.Hint != "" {
		f.Hint = "on " + r.host + ": " + f.Hint
	}
	return f
}

// warnNoAnswer reports a host that gives no whole answer, and what to do about it.
func (r *hostReports) warnNoAnswer(err error) {
	r.factory.WarnOfHost(r.host, err)
}

// WarnOfHost reports a host that gives no whole answer, and what to do about it.
func (f Factory) WarnOfHost(name string, err error) {
	var (
		unreachable *host.UnreachableError
		missing     *host.MissingError
		version     *host.VersionError
		cut         *host.CutError
	)
	hint := ""
	switch {
	case errors.As(err, &unreachable), errors.Is(err, host.ErrSilent):
		hint = "ssh " + name + " must work without a password, from here"
	case errors.As(err, &missing), errors.As(err, &version):
		hint = "agentctl host install " + name + " copies this program there"
	case errors.As(err, &cut):
		hint = "what was started there goes on: agentctl list --host " + name
	}
	f.Report.warning(output.Warning{Message: name + ": " + ErrorText(err), Host: name})
	if hint != "" {
		f.Report.Hint(hint)
	}
}

// combine returns the error of a command that has asked several hosts.
func combine(answers []hostEnd) error {
	if len(answers) == 1 {
		return answers[0].err
	}
	var failed []hostEnd
	ok, partial, no := false, false, false
	for _, a := range answers {
		switch {
		case a.err == nil:
			ok = true
		case errors.Is(a.err, ErrPartial):
			partial = true
		case errors.Is(a.err, ErrNo):
			no = true
		default:
			failed = append(failed, a)
		}
	}
	if ok || no {
		failed = slices.DeleteFunc(failed, func(a hostEnd) bool { return a.elsewhere && a.code == ExitNotFound })
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
func joined(failed []hostEnd) error {
	first, ok := errors.AsType[*Failure](failed[0].err)
	if len(failed) == 1 || !ok {
		return failed[0].err
	}
	out := *first
	for _, a := range failed[1:] {
		out.message += "; " + ErrorText(a.err)
	}
	return &out
}
