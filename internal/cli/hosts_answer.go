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
	// maxObject bounds one object that a host prints, in bytes: the longest are messages with the output of a tool.
	maxObject = 32 << 20
	// maxArray bounds an array, whose objects are kept until all have arrived. A stream of objects has no bound.
	maxArray = 96 << 20
)

// objects decodes the JSON that a host prints, an array or a stream, and calls do with each object.
type objects struct {
	out  io.WriteCloser
	done chan struct{}
	err  error
}

func newObjects(newObject func() object.Answer, take func(object.Answer) error) *objects {
	in, out := io.Pipe()
	o := &objects{out: out, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		if o.err = decodeObjects(in, newObject, take); o.err == nil {
			_, _ = io.CopyN(io.Discard, in, maxObject) // blanks after an array
		}
		_ = in.CloseWithError(errors.Join(errUnreadAnswer, o.err))
	}()
	return o
}

// errUnreadAnswer tells the writer of an answer that the rest is not read.
var errUnreadAnswer = errors.New("the rest of the answer is not read")

// finish waits until everything is decoded, and returns the error.
func (o *objects) finish() error {
	_ = o.out.Close()
	<-o.done
	return o.err
}

// badAnswer is the error of an answer that breaks the contract.
type badAnswer struct{ err error }

func (e *badAnswer) Error() string { return "its answer is not understood: " + e.err.Error() }

// decodeObjects calls take with each object of an answer: an array of objects, or one after another.
func decodeObjects(in io.Reader, newObject func() object.Answer, take func(object.Answer) error) error {
	r := newObjectReader(in)
	array := r.opensArray()
	for {
		if array && !r.More() {
			_, err := r.Token()
			return unlessEnd(err)
		}
		if !array {
			r.start = r.InputOffset()
		}
		obj := newObject()
		err := r.decode(obj)
		if err == nil {
			err = BadAnswer(obj.Check())
		}
		if err == nil {
			err = r.next()
		}
		if err != nil {
			return unlessEnd(err)
		}
		if err := take(obj); err != nil {
			return err
		}
	}
}

// unlessEnd returns the error of an answer; nil at its end. The exit code tells whether the answer is complete.
func unlessEnd(err error) error {
	if bad := (*badAnswer)(nil); err == nil || errors.As(err, &bad) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return &badAnswer{err}
}

// objectReader reads the objects of an answer within the bounds.
type objectReader struct {
	*json.Decoder
	budget *budget
	// start is the offset of the array or, in a stream, of the current object.
	start int64
}

func newObjectReader(in io.Reader) *objectReader {
	b := &budget{in: bufio.NewReader(in), left: maxObject}
	return &objectReader{Decoder: json.NewDecoder(b), budget: b}
}

// next allows another object, or another part of a long one.
func (o *objectReader) next() error {
	if o.InputOffset()-o.start > maxArray {
		return &badAnswer{fmt.Errorf("it has more than %d MB", maxArray>>20)}
	}
	o.budget.left = maxObject
	return nil
}

// opensArray reads the bracket that begins an array; false if something else begins.
func (o *objectReader) opensArray() bool {
	for ; o.budget.left > 0; o.budget.left-- {
		c, err := o.budget.in.ReadByte()
		switch {
		case err != nil:
			return false // the next read returns it again
		case strings.ContainsRune(" \t\r\n", rune(c)):
			continue
		}
		_ = o.budget.in.UnreadByte() // it was just read
		if c != '[' {
			return false
		}
		_, err = o.Token()
		return err == nil
	}
	return false
}

// budget is a reader that fails once it has read more than one object may have.
type budget struct {
	in   *bufio.Reader
	left int64
}

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("an object has more than %d MB", maxObject>>20)
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// maxNesting bounds how deep sub-agents of an export are nested.
const maxNesting = 100

// decode decodes one object. The messages of an export are decoded one by one: a session may be longer than an object may be.
func (o *objectReader) decode(obj object.Answer) error {
	if e, ok := obj.(*object.Export); ok {
		return decodeExport(o, e, 0)
	}
	return o.Decode(obj)
}

func decodeExport(r *objectReader, e *object.Export, depth int) error {
	if depth > maxNesting {
		return &badAnswer{errors.New("its sub-agents are nested too deep")}
	}
	if err := expect(r, '{'); err != nil {
		return err
	}
	e.Messages = []object.Message{}
	for r.More() {
		key, err := r.Token()
		if err != nil {
			return err
		}
		switch key {
		case "session":
			err = r.Decode(&e.Session)
		case "messages":
			err = decodeList(r, func() error {
				e.Messages = append(e.Messages, object.Message{})
				return r.Decode(&e.Messages[len(e.Messages)-1])
			})
		case "missing":
			err = r.Decode(&e.Missing)
		case "children":
			err = decodeList(r, func() error {
				e.Children = append(e.Children, object.Export{})
				return decodeExport(r, &e.Children[len(e.Children)-1], depth+1)
			})
		default:
			err = r.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	return expect(r, '}')
}

func decodeList(r *objectReader, element func() error) error {
	if err := expect(r, '['); err != nil {
		return err
	}
	for r.More() {
		if err := element(); err != nil {
			return err
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	return expect(r, ']')
}

func expect(r *objectReader, want json.Delim) error {
	token, err := r.Token()
	if err == nil && token != want {
		err = &badAnswer{errors.New("no export: something else stands where " + want.String() + " belongs")}
	}
	return err
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

// hostEnd is how the call of a host has ended.
type hostEnd struct {
	host string
	code int
	err  error // nil with [ExitOK]
	// elsewhere: a session that is not found is an error only if no other host has it.
	elsewhere bool
}

// answer returns how the call has ended. It warns of a host whose answer is missing or incomplete.
func (h *hostReports) answer(code int, err error) hostEnd {
	a := hostEnd{host: h.call.Target.Name, code: code}
	switch {
	case errors.Is(err, context.Canceled):
		a.err = err
	case err == nil && (code == ExitOK || code == ExitNoReader):
		a.code = ExitOK
	case err == nil && code == ExitInterrupted:
		err = &remote.Error{Kind: remote.Cut, Text: "its agentctl was interrupted there"}
	case err == nil && h.failed != nil:
		a.err = h.failure()
	case err == nil && code == ExitPartial:
		a.err = ErrPartial
	case err == nil && code == ExitNo:
		a.err = ErrNo
	case err == nil:
		a.err = ExitWith(code)
	}
	if err != nil && a.err == nil {
		if bad := (*remote.Error)(nil); h.call.acts() && errors.As(err, &bad) && (bad.Kind == remote.Cut || bad.Kind == remote.Silent) {
			err = fmt.Errorf("%w; what was asked for may have been done", err)
		}
		h.env.WarnOfHost(h.call.Target, err)
		a.code, a.err = ExitPartial, ErrPartial
	}
	return a
}

func (h *hostReports) failure() error {
	name := h.call.Target.Name
	f := &Failure{errorNamed(h.failed.Code), name + ": " + h.prefixIDs(h.failed.Message), h.localHint(h.failed.Hint), nil}
	var lines []string
	for _, s := range h.failed.Candidates[:min(len(h.failed.Candidates), maxCandidates)] {
		s.Host = name
		if s.Check() == nil {
			f.candidates = append(f.candidates, s)
			lines = append(lines, candidateText(&s, s.Name()))
		}
	}
	if len(lines) > 0 && !h.env.Report.JSON {
		f.Hint = strings.Join(lines, "\n")
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
		case h.env.Hosts != nil && slices.Contains(h.env.Hosts.verbs, verb):
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
