package cli

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/creack/pty"
	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
)

// crashing is an agent whose processes are inspected once, and never again.
type crashing struct {
	Stub
	inspected *atomic.Int64
}

// Claims implements [discover.Adapter].
func (c crashing) Claims(ctx context.Context, t *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	if c.inspected.Add(1) > 1 {
		panic("a crash")
	}
	return c.Stub.Claims(ctx, t, homes)
}

// A crash beside the screen restores the terminal first, whichever goroutine it is in.
func TestCrash(t *testing.T) {
	master, tty, err := pty.Open()
	must.Do(t, err)
	defer master.Close()
	initial, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	must.Do(t, err)
	f, _ := testEnv(t)
	f = Setenv(f, "TERM", "xterm")
	f.Stdin, f.Stdout, f.Terminal = tty, tty, true
	f.Adapters = []discover.Adapter{crashing{f.Adapters[1].(Stub), &atomic.Int64{}}}
	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // its error is how a terminal ends
		shown <- string(text)
	}()
	func() {
		defer func() {
			if text, _ := recover().(string); !strings.HasPrefix(text, "a crash\n") || !strings.Contains(text, "crashing.Claims") {
				t.Errorf("%q", text)
			}
		}()
		app := &cli.App{Commands: []*cli.Command{topCommand(f)}}
		app.Commands[0].Name = "top"
		t.Error(app.RunContext(t.Context(), []string{"agentctl", "top"}))
	}()
	if got, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS); err != nil || *got != *initial {
		t.Errorf("the mode is %+v, was %+v, %v", got, initial, err)
	}
	tty.Close()
	if text := <-shown; !strings.HasPrefix(text, "\x1b[?1049h") || !strings.HasSuffix(text, "\x1b[?25h\x1b[?1049l") {
		t.Errorf("%q", text)
	}
}
