package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/internal/object"
	"agentctl/internal/render"
)

// PrintRows prints objects: as a JSON array, by --format, or as a table, which has no header if it has no rows.
func PrintRows[T any](c *Call, rows []T, table func(io.Writer, []T, render.TextOptions) error) error {
	switch {
	case c.JSON:
		return render.JSONArray(c.Stdout, rows)
	case c.Template != nil:
		return PrintEach(rows, func(row T) error { return c.Template(c.Stdout, row) })
	case len(rows) == 0:
		return nil
	}
	return table(c.Stdout, rows, c.Style)
}

// PrintObject prints an object of a command that prints one or a stream: as a line of JSON, by --format, or else by text; with --quiet not at all.
func PrintObject[T any](c *Call, obj T, text func() error) error {
	switch {
	case c.Quiet:
		return nil
	case c.JSON:
		return render.JSONLine(c.Stdout, obj)
	case c.Template != nil:
		return c.Template(c.Stdout, obj)
	}
	return text()
}

// PrintEach prints each object, until an error.
func PrintEach[T any](list []T, print func(T) error) error {
	for _, obj := range list {
		if err := print(obj); err != nil {
			return err
		}
	}
	return nil
}

// template is a function that prints objects of a type by the text of --format, nil if there is none. The word json asks for what
// --json prints.
func (env Env) template(verb string, text *string, asJSON *bool, of any) (func(w io.Writer, obj any) error, error) {
	switch {
	case *text != "" && *asJSON:
		return nil, UsageError(verb, "--json and --format cannot be used together")
	case *text == formatJSON:
		*text, *asJSON = "", true
		return nil, nil
	case *text == "":
		return nil, nil
	}
	own := map[string][]string{"status": {"explain"}, "search": {"matches"}}[verb]
	format, err := render.ParseFormat(*text, env.Now, of, own...)
	if err != nil {
		return nil, UsageError(verb, "%v", err)
	}
	return func(w io.Writer, obj any) error {
		err := format.Write(w, obj)
		if bad, ok := errors.AsType[*render.FormatError](err); ok {
			return UsageError(verb, "%v", bad)
		}
		return err
	}, nil
}

// Show prints sessions in full: one, or all those of a process.
func (c *Call) Show(sessions []object.Session) error {
	for i := range sessions {
		if i > 0 && !c.JSON && c.Template == nil {
			fmt.Fprintln(c.Stdout)
		}
		var err error
		switch {
		case c.Template != nil:
			err = c.Template(c.Stdout, sessions[i])
		case c.JSON && len(sessions) > 1:
			err = render.JSONLine(c.Stdout, sessions[i])
		case c.JSON:
			err = render.JSON(c.Stdout, sessions[i])
		default:
			err = render.Details(c.Stdout, &sessions[i], c.Style)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printResult prints a line for a result, unless --json prints all in one array.
func printResult[T any, P answer[T]](c *Call, r T, text func(P) (name, words string)) error {
	if c.Quiet || c.JSON {
		return nil
	}
	name, words := text(&r)
	_, err := fmt.Fprintf(c.Stdout, "%s  %s\n", render.Sanitize(name), render.Sanitize(words))
	return err
}

// printedResults prints the array of --json, unless nothing was done, and returns the error of the command.
func printedResults[T any](c *Call, results []T, failed error) error {
	if code := ExitCode(failed); c.JSON && (len(results) > 0 || code == ExitOK || code == ExitPartial) {
		if err := render.JSONArray(c.Stdout, results); err != nil {
			return err
		}
	}
	return failed
}

// Page prints a text that is for people: into a terminal by way of a pager if it has more lines than that. It returns
// when the pager has ended, however much of the text that has read. What the user types is the pager's, Ctrl-C too;
// other signals end it. With noPager it prints the text itself.
func (env Env) Page(ctx context.Context, text []byte, noPager bool) error {
	pager := env.pager()
	if noPager || env.Width == 0 || pager == "" || bytes.Count(text, []byte("\n")) < env.Height {
		_, err := env.Stdout.Write(text)
		return err
	}
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cmd := exec.Command("/bin/sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), env.Stdout, env.Stderr
	cmd.Env = slices.Concat([]string{"LESS=FRX", "LV=-c"}, env.Environ) // what the user has set is stronger
	cmd.WaitDelay = GracePeriod
	err := runJob(ctx, cmd)
	switch exit := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() != missing && exit.ExitCode() != unfit:
		return nil
	case err != nil:
		_, err = env.Stdout.Write(text)
	}
	return err
}

// The shell's exit codes for a program that does not exist, or that cannot be executed.
const (
	missing = 127
	unfit   = 126
)

// pager is the command that shows long texts, "" if none is wanted.
func (env Env) pager() string {
	pager := "less"
	for _, v := range env.Environ {
		if p, ok := strings.CutPrefix(v, "PAGER="); ok {
			pager = p
		}
	}
	if pager == "cat" || env.Getenv("TERM") == "dumb" {
		return ""
	}
	return pager
}

// ContextWriter is a writer that gives up when the context ends, since a reader that stops reading would block for ever.
type ContextWriter struct {
	Context context.Context // its life is one call
	Out     io.Writer
}

func (c ContextWriter) Write(text []byte) (int, error) {
	done := make(chan error, 1)
	kept := bytes.Clone(text) // it is written still when we have given up
	go func() {
		_, err := c.Out.Write(kept)
		done <- err
	}()
	select {
	case err := <-done:
		return len(text), err
	case <-c.Context.Done():
		return 0, c.Context.Err()
	}
}

// CancelOnHangup cancels the context, with EPIPE as its cause, once the other end of the pipe w is closed. SIGPIPE does
// not end the process meanwhile, so that the command can end what it has started.
func CancelOnHangup(ctx context.Context, w io.Writer) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	f, ok := w.(*os.File)
	if !ok {
		return ctx, cancel
	}
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	go func() {
		defer signal.Stop(pipes)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if hungUp(f) {
					cancel(syscall.EPIPE)
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}

// hungUp reports whether f is a pipe or a socket whose other end is closed.
func hungUp(f *os.File) bool {
	set := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(set, 0)
	return err == nil && n > 0 && set[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
