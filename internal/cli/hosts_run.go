package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/internal/object"
	"agentctl/internal/remote"
	"agentctl/launch"
)

// Each calls take with each object of a command, never twice at a time: with those of this machine, which local passes on, or else with those of the
// calls as they arrive. doing begins the progress line that names the hosts; if it is "", that line ends with the first object.
func Each[T any, P answer[T]](
	ctx context.Context, c *Call, calls []HostCall, doing string, local func(ctx context.Context, take func(T) error) error, take func(T) error,
) error {
	ctx, stop := Interruptible(ctx)
	defer stop()
	paused := func(obj T) error {
		defer c.Report.Pause()()
		return take(obj)
	}
	if calls == nil {
		return local(ctx, paused)
	}
	endProgress := c.ProgressOf(func() string { return cmp.Or(doing, "asking") + " " + unanswered(calls) })
	defer endProgress()
	return EachHost[T, P](ctx, c.Env, calls, func(obj T) error {
		if doing == "" {
			endProgress()
		}
		return paused(obj)
	})
}

// Results is [Each] of what became of the sessions that a command acts on, and prints them. text returns the session and the words of a line.
func Results[T any, P answer[T]](
	ctx context.Context, c *Call, calls []HostCall, doing string, local func(ctx context.Context, take func(T) error) error, text func(P) (name, words string),
) error {
	results := []T{}
	failed := Each[T, P](ctx, c, calls, doing, local, func(r T) error {
		results = append(results, r)
		return printResult[T, P](c, r, text)
	})
	return printedResults(c, results, failed)
}

// Collect returns the objects of a command once all are known: those of this machine by local, or those of the calls in the order of the hosts. When the
// user interrupts it, it returns what has arrived, and reports whose answer is missing. Once the objects are printed, after reports what could not be read,
// and returns the error of the command.
func Collect[T any, P answer[T]](
	ctx context.Context, c *Call, calls []HostCall, local func(context.Context) ([]T, []*discover.Warning, error),
) (objects []T, after func() error, err error) {
	if calls == nil {
		objects, warnings, err := local(ctx)
		return objects, func() error { return c.ReportWarnings(warnings) }, err
	}
	ctx, stop := Interruptible(ctx)
	defer stop()
	endProgress := c.ProgressOf(func() string { return "asking " + unanswered(calls) })
	byHost := map[string][]T{}
	failed := c.eachHost(ctx, calls, func() object.Answer { return P(new(T)) }, func(host string, obj object.Answer) error {
		byHost[host] = append(byHost[host], *obj.(P))
		return nil
	})
	endProgress()
	if errors.Is(failed, context.Canceled) {
		c.Report.Note("interrupted: the answer is missing of " + unanswered(calls))
	}
	for _, call := range calls {
		objects = append(objects, byHost[call.Target.Name]...)
	}
	if len(objects) == 0 && !c.JSON {
		err = failed // nobody knows whether there are any
	}
	return objects, func() error { return failed }, err
}

// EachHost asks all hosts at the same time, and calls take with each object that one of them prints, as it arrives and never twice at a time. It reports
// warnings, and returns the error of the command: that of the only host, or the first of several that is not [ErrPartial] or [ErrNo].
func EachHost[T any, P answer[T]](ctx context.Context, env Env, calls []HostCall, take func(obj T) error) error {
	return env.eachHost(ctx, calls, func() object.Answer { return P(new(T)) }, func(_ string, obj object.Answer) error { return take(*obj.(P)) })
}

// answer is a pointer to an object that the agentctl of another machine may print.
type answer[T any] interface {
	*T
	object.Answer
}

// eachHost is [EachHost] for all types: the linked program grows with each type of a generic function.
func (env Env) eachHost(ctx context.Context, calls []HostCall, newObject func() object.Answer, take func(host string, obj object.Answer) error) error {
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failures := make([]error, len(calls))
	var mu sync.Mutex
	var asked sync.WaitGroup
	for i, call := range calls {
		call.answered.Store(false)
		asked.Go(func() {
			reports := &hostReports{env: env, call: call, dropped: func() bool { return working.Err() != nil && ctx.Err() == nil }}
			in, out := io.Pipe()
			var undecoded error
			var decoding sync.WaitGroup
			decoding.Go(func() {
				undecoded = decodeObjects(in, newObject, func(obj object.Answer) error {
					mu.Lock()
					defer mu.Unlock()
					if reports.dropped() { // take wants no more
						return context.Cause(working)
					}
					obj.SetHost(call.Target.Name)
					err := take(call.Target.Name, obj)
					if err != nil {
						cancel(err)
					}
					return err
				})
				if undecoded == nil {
					_, _ = io.CopyN(io.Discard, in, maxObject) // blanks after an array
				}
				_ = in.CloseWithError(errors.Join(errUnreadAnswer, undecoded))
			})
			ended, err := env.runCall(working, call, out, &lineWriter{limit: maxReport, line: reports.line})
			_ = out.Close()
			decoding.Wait()
			err = cmp.Or(undecoded, err)
			if working.Err() != nil {
				err = working.Err()
			}
			failures[i] = reports.callError(ended.Code, err)
			call.complete.Store(err == nil && (ended.Code == ExitOK || ended.Code == ExitPartial))
			call.answered.Store(working.Err() == nil)
			if ended.Code == ExitNotFound && failures[i] != nil && !call.elsewhere && !mayChange(call.Flags) {
				cancel(failures[i]) // as on one host, an ID that means nothing ends the command
			}
		})
	}
	asked.Wait()
	switch cause := context.Cause(working); {
	case ctx.Err() != nil:
		return ctx.Err()
	case cause != nil:
		return cause // of take, or of an ID that means nothing
	}
	return combine(failures, slices.ContainsFunc(calls, func(call HostCall) bool { return call.elsewhere }))
}

// SSH returns the user's ssh, for a host.
func (env Env) SSH(t remote.Target) (remote.SSH, error) {
	path, err := launch.Environment{Environ: env.Environ}.LookPath("ssh")
	if err != nil {
		return remote.SSH{}, NotInstalledError("hosts are asked by OpenSSH, and ssh is not in PATH")
	}
	return remote.SSH{Path: path, Environ: env.Environ, ConnectTimeout: t.ConnectTimeout}, nil
}

// runCall runs a call: one for this machine in this process.
func (env Env) runCall(ctx context.Context, call HostCall, stdout, stderr io.Writer) (remote.Answer, error) {
	request := remote.Request{Schema: object.SchemaID(), Args: call.args(), Stdin: call.Stdin}
	if call.Target.IsLocal() {
		f := env
		f.Stdout, f.Stderr, f.Width, f.Height, f.StderrWidth, f.Terminal = stdout, stderr, 0, 0, 0, false
		return remote.Answer{Hello: f.Hello(), Code: f.runRequest(ctx, request)}, ctx.Err()
	}
	request.Zone, request.Offset = env.zone()
	return call.ssh.Run(ctx, call.Target.Destination, request, stdout, stderr)
}

// AskHost runs a command line on one host, and returns what it prints on stdout, up to limit bytes.
func (env Env) AskHost(ctx context.Context, t remote.Target, limit int, args ...string) (remote.Answer, []byte, error) {
	call, err := env.newHostCall(t, args...)
	if err != nil {
		return remote.Answer{}, nil, err
	}
	out := &storage.LimitedBuffer{Limit: limit, Strict: true}
	answer, err := env.runCall(ctx, call, out, io.Discard)
	if errors.Is(err, storage.ErrTooLarge) {
		err = badAnswer(err)
	}
	return answer, out.Bytes(), err
}

// OnTerminal runs a command that takes the terminal. here does that for a session of this machine, which the argument then means. For another one,
// unless the command is refused, this process is replaced by ssh, which runs it on the host in this terminal.
func (c *Call) OnTerminal(calls []HostCall, arg string, refused error, here func(arg string) error) error {
	switch {
	case calls == nil:
		return here(arg)
	case calls[0].Target.IsLocal():
		return here(calls[0].Arguments[0])
	case refused != nil:
		return refused
	}
	call := calls[0]
	args := call.ssh.TerminalCommand(call.Target, call.WithoutFlags("json").args(), ExitPartial)
	return c.Exec(launch.Spec{Args: args, Dir: clientDir("")}, launch.Environment{Environ: c.Environ})
}

const (
	// signInterval is how often a command shows the calling agentctl that it still works. The caller gives up after 30 seconds of silence.
	signInterval = 10 * time.Second
	// leastWork is the processor time that counts as progress: even following no session takes more, and a goroutine that hangs takes none.
	leastWork = 2 * time.Millisecond
)

// Answer runs a command line for the agentctl of another machine, which has set [remote.CallerVariable], and returns the exit code.
func (env Env) Answer(ctx context.Context, args []string) int {
	ctx, stop := Interruptible(ctx)
	defer stop()
	ctx, hangup := CancelOnHangup(ctx, env.Stdout)
	defer hangup(nil)
	code, err := remote.Serve(ctx, env.Caller, args, env.Stdin, env.Stdout, env.Hello(), func(ctx context.Context, r remote.Request) int {
		defer env.showWork(mayChange(r.Args))()
		now, zone := env.Now, r.Location()
		env.Now = func() time.Time { return now().In(zone) }
		return env.runRequest(ctx, r)
	})
	if err != nil {
		NewReporter(env.Stderr).line("agentctl: ", ErrorText(err)) // not JSON: the caller shows it as the reason
		return ExitPartial
	}
	return code
}

// runRequest runs a request in this process.
func (env Env) runRequest(ctx context.Context, r remote.Request) int {
	env.Stdin, env.Remote, env.Caller, env.Users, env.Hosts = bytes.NewReader(r.Stdin), true, "", nil, nil
	return Run(ctx, env, r.Args...)
}

// showWork prints a line break on stderr at intervals: always, or only if this process has used the processor since, which it has not on a dead mount.
func (env Env) showWork(always bool) (stop func()) {
	tick, done := time.NewTicker(signInterval), make(chan struct{})
	go func() {
		var last int64
		for {
			select {
			case <-tick.C:
				var used unix.Rusage
				_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
				if spent := used.Utime.Nano() + used.Stime.Nano(); always || spent-last >= int64(leastWork) {
					NewReporter(env.Stderr).line("", "")
					last = spent
				}
			case <-done:
				tick.Stop()
				return
			}
		}
	}()
	return func() { close(done) }
}

// mayChange reports whether a command line may change something on a host. It may wait for an agent, which takes none of agentctl's processor time.
func mayChange(args []string) bool {
	flags := removeFlags(args)
	acting := []string{"launch", "resume", "send", "answer", "stop", "rm", "archive", "unarchive"}
	return len(flags) > 0 && slices.Contains(acting, flags[0]) && !slices.Contains(flags, "--dry-run")
}

// Hello describes this program.
func (env Env) Hello() remote.Hello {
	b := env.build()
	return remote.Hello{Schema: object.SchemaID(), Version: b.Version, OS: b.OS, Arch: b.Arch}
}

// zone returns the name of the user's time zone, "" if it is not known, and its offset from UTC in seconds.
func (env Env) zone() (name string, offset int) {
	now := env.Now()
	_, offset = now.Zone()
	if name = now.Location().String(); name == time.Local.String() {
		if name = env.Getenv("TZ"); name == "" {
			name, _ = os.Readlink("/etc/localtime")
		}
		if _, below, ok := strings.Cut(name, "zoneinfo/"); ok {
			name = below
		}
	}
	return strings.TrimPrefix(name, ":"), offset
}
