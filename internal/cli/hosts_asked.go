package cli

import (
	"bytes"
	"context"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/internal/object"
	"agentctl/internal/remote"
)

const (
	// signInterval is how often the agentctl of another machine hears that a command which it has asked for still works. It gives up after 30 seconds without.
	signInterval = 10 * time.Second
	// leastWork is the processor time in which a command has done something: following no session takes more, and a goroutine that hangs takes none.
	leastWork = 2 * time.Millisecond
)

// Answer runs a command line for the agentctl of another machine, which has set [remote.CallerVariable], and returns the exit code.
func (f Factory) Answer(ctx context.Context, args []string, run func(context.Context, Factory, []string) int) int {
	ctx, stop := Interruptible(ctx)
	defer stop()
	ctx, hangup := CancelOnHangup(ctx, f.Stdout)
	defer hangup(nil)
	code, err := remote.Serve(ctx, f.Caller, args, f.Stdin, f.Stdout, f.Hello(), func(ctx context.Context, r remote.Request) int {
		defer f.showWork(HostCall{Args: r.Args}.acts())()
		now, zone := f.Now, r.Location()
		f.Now = func() time.Time { return now().In(zone) }
		return f.runAsked(ctx, r, run)
	})
	if err != nil {
		NewReporter(f.Stderr).line("agentctl: ", ErrorText(err)) // it is no JSON: the caller shows it as the reason
		return ExitPartial
	}
	return code
}

// runAsked runs a request in this process.
func (f Factory) runAsked(ctx context.Context, r remote.Request, run func(context.Context, Factory, []string) int) int {
	f.Stdin, f.Asked, f.Caller, f.Users, f.Hosts = bytes.NewReader(r.Stdin), true, "", nil, nil
	return run(ctx, f, r.Args)
}

// showWork prints a line break on stderr from time to time, if always or if this process has worked since: on a dead mount it has not. stop ends it.
func (f Factory) showWork(always bool) (stop func()) {
	tick, done := time.NewTicker(signInterval), make(chan struct{})
	go func() {
		var last int64
		for {
			select {
			case <-tick.C:
				var used unix.Rusage
				_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
				if spent := used.Utime.Nano() + used.Stime.Nano(); always || spent-last >= int64(leastWork) {
					NewReporter(f.Stderr).line("", "")
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

// acts reports whether the call may change something there. It may wait for an agent, which takes no time of agentctl.
func (c HostCall) acts() bool {
	return slices.Contains([]string{"launch", "resume", "send", "stop", "rm", "archive", "unarchive"}, c.Args[0]) && !slices.Contains(c.Args, "--dry-run")
}

// Hello is what this program says of itself.
func (f Factory) Hello() remote.Hello {
	info, _ := debug.ReadBuildInfo()
	b := BuildInfo(f.Version, info)
	return remote.Hello{Schema: object.SchemaID(), Version: b.Version, OS: b.OS, Arch: b.Arch}
}

// zone returns the name of the user's time zone, "" if it is not known, and its distance from UTC in seconds.
func (f Factory) zone() (name string, offset int) {
	now := f.Now()
	_, offset = now.Zone()
	if name = now.Location().String(); name == time.Local.String() {
		if name = f.Getenv("TZ"); name == "" {
			name, _ = os.Readlink("/etc/localtime")
		}
		if _, below, ok := strings.Cut(name, "zoneinfo/"); ok {
			name = below
		}
	}
	return strings.TrimPrefix(name, ":"), offset
}
