package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/tests/directive"
)

// headless is a fake that runs one turn by itself, as the real agent does when it is started with a prompt.
type headless interface {
	fake
	// accept reads the command line and what stands on stdin, and returns the prompt. The error is a refusal.
	accept(args []string, stdin string) (prompt string, err error)
	// appear makes what identifies the live agent, such as a lock; record stores the prompt.
	appear() error
	record(prompt string) error
	// tool stores a call of the shell, result what came of it.
	tool(command string) error
	result(text string) error
	// retry is what the agent shows when the model is asked again after a failure.
	retry() error
	// finish ends the turn and returns the exit code: with a text, or, where failed, with the model's error.
	finish(text string, failed bool) (code int, err error)
	// markers are what the agent sets in the environment of its tools.
	markers() []string
	// handledSignals are the signals that the agent handles; onSignal is what it does. kill ends the tool that runs.
	handledSignals() []os.Signal
	onSignal(sig syscall.Signal, kill func() (running bool))
}

// refusal is why an agent does not even begin, in its own words.
type refusal struct {
	code  int
	words string
}

func (r refusal) Error() string { return r.words }

// runFake is the program of a fake. On a pipe it takes orders; with a file for stdin it runs its turn; in a terminal it
// shows how it was called.
func runFake(f headless) {
	info, err := os.Stdin.Stat()
	null, nullErr := os.Stat(os.DevNull)
	switch {
	case errors.Join(err, nullErr) != nil:
		os.Exit(1)
	case info.Mode()&os.ModeNamedPipe != 0:
		serve(f)
	case info.Mode()&os.ModeCharDevice != 0 && !os.SameFile(info, null):
		fmt.Printf("%q in %s, PWD=%s\n", os.Args, workDir(), os.Getenv("PWD"))
	default:
		os.Exit(runTurn(f))
	}
}

// runTurn runs one turn. A prompt's directive is that of the real agents' models (package directive), with more verbs
// for what depends on no model. A gate is a file, open once it is there; whoever waits for it makes GATE.reached first.
//
//	die CODE WORDS      end before anything shows, with these words
//	late-id @GATE       live without what identifies it until the gate opens
//	late-store @GATE    identified, but nothing stored until
//	ignore-term FILE    ignore signals that ask to end, but make FILE, if one is named, when one comes
//	retry-line          show that the model is asked again
//	big-out N           print N bytes of lines, or some more, on stdout, and on stderr
//	until @GATE         go on when the gate opens
func runTurn(f headless) int {
	stdin, err := io.ReadAll(os.Stdin)
	if err != nil {
		return printError(err)
	}
	prompt, err := f.accept(os.Args[1:], string(stdin))
	if err != nil {
		return printError(err)
	}
	t := &turn{agent: f}
	steps, _ := directive.Parse(prompt)
	code, err := t.run(prompt, steps)
	if err != nil {
		return printError(err)
	}
	return code
}

// printError says an error on stderr. The exit code of one that is no refusal is the fake's own.
func printError(err error) int {
	fmt.Fprintln(os.Stderr, err)
	if r := (refusal{}); errors.As(err, &r) {
		return r.code
	}
	return 70
}

// turn is one turn as it goes on.
type turn struct {
	agent headless
	mu    sync.Mutex // held while the agent writes, and for ever once a signal has been taken
	shell *exec.Cmd  // the tool that runs
	// text is the newest answer; failed: it is the model's error.
	text   string
	failed bool
}

// write lets the agent write without a signal between.
func (t *turn) write(f func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return f()
}

func (t *turn) run(prompt string, steps []directive.Step) (code int, err error) {
	gates, steps, err := t.prepare(steps)
	if err != nil {
		return 0, err
	}
	for i, show := range []func() error{t.agent.appear, func() error { return t.agent.record(prompt) }} {
		if err := wait(gates[i]); err != nil {
			return 0, err
		}
		if err := t.write(show); err != nil {
			return 0, err
		}
	}
	t.text = "OK"
	for _, s := range steps {
		if err := t.step(s); err != nil {
			return 0, fmt.Errorf("directive %q: %w", s, err)
		}
	}
	err = t.write(func() error {
		code, err = t.agent.finish(t.text, t.failed)
		return err
	})
	return code, err
}

// prepare takes from the steps those that are about the beginning: what to wait for before it is identified and before the
// first record.
func (t *turn) prepare(steps []directive.Step) (gates [2]*directive.Pause, rest []directive.Step, err error) {
	handled := t.agent.handledSignals()
	for _, s := range steps {
		switch s.Verb {
		case "die":
			code, words, _ := strings.Cut(s.Arg, " ")
			n, err := strconv.Atoi(code)
			if err != nil {
				return gates, nil, err
			}
			return gates, nil, refusal{n, words}
		case "late-id":
			gates[0], err = pause(s.Arg)
		case "late-store":
			gates[1], err = pause(s.Arg)
		case "ignore-term":
			handled = nil
			ignoreSignals(s.Arg)
		default:
			rest = append(rest, s)
		}
		if err != nil {
			return gates, nil, err
		}
	}
	if len(handled) > 0 {
		t.handleSignals(handled)
	}
	return gates, rest, nil
}

// ignoreSignals has the process live on whoever asks it to end. Unlike ignored signals, caught ones are not ignored by its tools
// too.
func ignoreSignals(file string) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	go func() {
		for range got {
			if file != "" {
				_ = os.WriteFile(file, nil, 0o600) // a script that waits for it says so
			}
		}
	}()
}

// handleSignals has the agent do what it does when a signal asks it to end.
func (t *turn) handleSignals(signals []os.Signal) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, signals...)
	go func() {
		sig := (<-got).(syscall.Signal)
		t.mu.Lock()
		t.agent.onSignal(sig, t.kill)
	}()
}

// endBySignal ends the process as a signal does that is not handled.
func endBySignal(sig syscall.Signal) {
	signal.Reset(sig)
	_ = unix.Kill(os.Getpid(), sig)
	<-time.After(time.Hour) // it comes
}

// step carries out one step of the turn.
func (t *turn) step(s directive.Step) error {
	switch s.Verb {
	case "text", "think":
		t.text = s.Arg
	case "hang", "until", "delay":
		p, rest, err := directive.ParsePause(s.Arg)
		if err != nil {
			return err
		}
		t.text = rest
		return wait(&p)
	case "shell":
		return t.call(s.Arg, false)
	case "background":
		return t.call(s.Arg, true)
	case "error":
		t.text, t.failed = "API Error: "+s.Arg, true
	case "fail":
		t.text, t.failed = "The stream failed.", true
	case "retry-line":
		return t.write(t.agent.retry)
	case "big-out":
		n, err := strconv.Atoi(s.Arg)
		line := "All work and no play makes a dull fake.\n"
		out := strings.Repeat(line, n/len(line)+1)
		_, outErr := os.Stdout.WriteString(out)
		_, errErr := os.Stderr.WriteString(out)
		return errors.Join(err, outErr, errErr)
	default:
		return errUnknownOrder
	}
	return nil
}

// call runs a command as a tool: in a kernel session of its own, with the agent's markers. One in the background is not
// waited for.
func (t *turn) call(command string, background bool) error {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Env = append(os.Environ(), t.agent.markers()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err := t.write(func() error {
		if !background {
			t.shell = cmd
		}
		return errors.Join(t.agent.tool(command), cmd.Start())
	})
	if err == nil && !background {
		var exit *exec.ExitError
		if err = cmd.Wait(); errors.As(err, &exit) {
			err = nil
		}
	}
	return errors.Join(err, t.write(func() error {
		t.shell = nil
		return t.agent.result("It has run.")
	}))
}

// kill ends the tool that runs with its group; there may be none.
func (t *turn) kill() (running bool) {
	if t.shell == nil || t.shell.Process == nil {
		return false
	}
	_ = unix.Kill(-t.shell.Process.Pid, unix.SIGKILL) // it may just have ended
	return true
}

func pause(arg string) (*directive.Pause, error) {
	p, _, err := directive.ParsePause(arg)
	return &p, err
}

// wait waits until the gate opens, or for ever.
func wait(p *directive.Pause) error {
	if p == nil {
		return nil
	}
	if p.Time > 0 {
		return errors.New("a fake waits for a gate, not for a time")
	}
	if p.Gate != "" {
		if err := os.WriteFile(p.Gate+".reached", nil, 0o600); err != nil {
			return err
		}
	}
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if _, err := os.Stat(p.Gate); p.Gate != "" && err == nil {
			return nil
		}
	}
}

// options are a command line as the agents' parsers read it.
type options struct {
	set   map[string]string // by the name as it was written
	words []string          // what is no option: commands, the prompt
}

// parseOptions reads a command line; valued and plain are the options that there are, each with a blank before and
// after it. The first option that there is not is unknown.
func parseOptions(args []string, valued, plain string) (o options, unknown string) {
	o.set = map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			o.words = append(o.words, args[i+1:]...)
			return o, ""
		case !strings.HasPrefix(name, "-") || name == "-":
			o.words = append(o.words, args[i])
		case strings.Contains(valued, " "+name+" ") && joined:
			o.set[name] = value
		case strings.Contains(valued, " "+name+" ") && i+1 < len(args):
			i++
			o.set[name] = args[i]
		case strings.Contains(plain, " "+name+" "):
			o.set[name] = name
		default:
			return o, args[i]
		}
	}
	return o, ""
}

// first is the value of the first of these names that is set, "" if none is.
func (o options) first(names ...string) string {
	for _, name := range names {
		if v := o.set[name]; v != "" {
			return v
		}
	}
	return ""
}
