package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

// Reporter writes everything that a command prints on stderr: errors, warnings, hints, notes, the output of the user's
// scripts, and progress. With --json each is one line of JSON. Nothing else writes to Env.Stderr but programs that
// use the terminal alone (a pager, the command of lock).
type Reporter struct {
	out io.Writer
	// JSON selects JSON lines. It is set once the command line has been parsed.
	JSON bool
	// quiet leaves out hints; not those of errors.
	quiet bool
	// taken gets the texts of warnings and errors instead; nil: they are written.
	taken func(text string)
	// width is the number of columns in which lines are wrapped; 0: they are not.
	width int

	mu sync.Mutex
	// shown reports whether the progress line is on the screen; paused counts the callers that keep it off.
	shown  bool
	paused int
	// said has the texts of warnOnce and Hint.
	said map[string]bool
}

func NewReporter(out io.Writer) *Reporter { return &Reporter{out: out} }

// WithReports returns a env that reports nothing on stderr: warn gets the text of each warning and error.
func (env Env) WithReports(warn func(text string)) Env {
	env.Report = &Reporter{taken: warn, JSON: true}
	return env
}

// write reports the object with --json, else a line of text.
func (r *Reporter) write(o object.Diagnostic, prefix, text string) {
	switch {
	case r.taken != nil && o.Hint == "":
		r.taken(text)
	case r.taken != nil:
	case r.JSON:
		defer r.Pause()()
		_ = render.JSONLine(r.out, o)
	default:
		r.line(prefix, text)
	}
}

// fail reports the error that ends the command.
func (r *Reporter) fail(p object.Error) {
	r.write(object.Diagnostic{Error: &p}, "agentctl: error: ", p.Message)
	if r.JSON {
		return
	}
	for line := range strings.Lines(p.Hint) {
		r.line("hint: ", line)
	}
}

// Failure reports one of several failures, of which the command's own error will follow.
func (r *Reporter) Failure(message string) {
	r.write(object.Diagnostic{Warning: &object.Warning{Message: message}}, "agentctl: error: ", message)
}

func (r *Reporter) warning(n object.Warning) {
	r.write(object.Diagnostic{Warning: &n}, "agentctl: warning: ", n.Message)
}

// warnOnce reports a warning unless it has reported the same text before.
func (r *Reporter) warnOnce(n object.Warning) {
	if r.isNew(n.Message) {
		r.warning(n)
	}
}

// isNew reports whether a text is new to the command.
func (r *Reporter) isNew(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said[text] {
		return false
	}
	if r.said == nil {
		r.said = map[string]bool{}
	}
	r.said[text] = true
	return true
}

// Hint gives advice, each text once. There is no state in which a later command could see that it has been given.
func (r *Reporter) Hint(text string) {
	if !r.quiet && r.isNew(text) {
		r.write(object.Diagnostic{Hint: text}, "hint: ", text)
	}
}

// Note reports something that is neither wrong nor advice, such as what goes on after an interrupt.
func (r *Reporter) Note(text string) { r.write(object.Diagnostic{Hint: text}, "agentctl: ", text) }

// line writes one line of text. There is no way to report that stderr fails.
func (r *Reporter) line(prefix, text string) {
	defer r.Pause()()
	fmt.Fprintln(r.out, render.WrapHanging(prefix, render.Sanitize(text), r.width))
}

// progress writes the progress line over the one before, unless it is paused.
func (r *Reporter) progress(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.paused > 0 {
		return
	}
	fmt.Fprint(r.out, "\r"+text)
	r.shown = true
}

// Pause erases the progress line and keeps it off the screen until resume is called. Whatever writes to the terminal, to
// stdout too, does so while progress is paused.
func (r *Reporter) Pause() (resume func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused++
	if r.shown {
		fmt.Fprint(r.out, "\r\x1b[K")
		r.shown = false
	}
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.paused--
	})
}

// script returns the writer for the output of the user's script of that flag, and a function to call when the script has
// ended. Without --json the script gets stderr itself, so that it sees a terminal where there is one.
func (r *Reporter) script(flag string) (out io.Writer, ended func()) {
	resume := r.Pause()
	if !r.JSON {
		return r.out, resume
	}
	w := &lineWriter{limit: maxScriptLine, line: func(line []byte) {
		if len(line) > 0 {
			r.warning(object.Warning{Message: string(line), Source: flag})
		}
	}}
	return w, func() { w.line(w.rest); resume() }
}

// maxScriptLine bounds an unfinished line in memory, in bytes.
const maxScriptLine = 64 << 10

// lineWriter calls line with each line that is written. A longer one than limit comes in parts.
type lineWriter struct {
	line  func([]byte)
	limit int
	rest  []byte
}

func (l *lineWriter) Write(text []byte) (int, error) {
	l.rest = append(l.rest, text...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found && len(line) < l.limit {
			return len(text), nil
		}
		l.line(line)
		l.rest = bytes.Clone(rest)
	}
}

// progressDelay is the time before the first progress line, and between two: shorter waits need no explanation.
const progressDelay = time.Second

// StartWork begins work that may take long: it shows progress, and a signal cancels the context. done ends both.
func (env Env) StartWork(ctx context.Context, what string) (working context.Context, done func()) {
	working, stop := Interruptible(ctx)
	endProgress := env.Progress(what)
	return working, func() { endProgress(); stop() }
}

// Interruptible cancels the context on SIGINT, SIGTERM and SIGHUP; the cause names the signal. So a command can report
// the state that it leaves. After stop the signals end the process by default again. A SIGHUP that was ignored at the
// start (nohup) stays ignored.
func Interruptible(ctx context.Context) (working context.Context, stop context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, signals...)
}

// Progress shows on a terminal's stderr what the command is doing, once that takes longer than [progressDelay]. stop
// returns when the line is erased. With --json there is no progress.
func (env Env) Progress(what string) (stop func()) {
	return env.ProgressOf(func() string { return what })
}

// ProgressOf is [Env.Progress] of work whose description changes. It calls what from another goroutine.
func (env Env) ProgressOf(what func() string) (stop func()) {
	if env.StderrWidth == 0 || env.Report.JSON {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		begin := time.Now()
		tick := time.NewTicker(progressDelay)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				env.Report.progress(fmt.Sprintf("agentctl: %s, %ds …", what(), int(now.Sub(begin).Seconds())))
			case <-done:
				env.Report.Pause()()
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(done); wg.Wait() })
}

func (env Env) Warn(message string) { env.Report.warning(object.Warning{Message: message}) }

// ReportWarnings reports warnings, each once per command. It returns [ErrPartial] if there are any.
func (env Env) ReportWarnings(warnings []*discover.Warning) error {
	for _, w := range warnings {
		env.Report.warnOnce(object.Warning{Message: ErrorText(w), Adapter: string(w.Agent), Path: w.Path})
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
