package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/discover/agents"
	"agentctl/internal/remote"
	"agentctl/launch"
	"agentctl/proc"
)

// Env is everything that a command uses besides its arguments. No command reads any of it from the process itself.
type Env struct {
	// Stdin is read only where a flag asks for it.
	Stdin io.Reader
	// Stdout takes data only; everything else goes to Stderr, through Report.
	Stdout, Stderr io.Writer
	// Width and Height are the number of columns and lines if stdout is a terminal, else 0.
	Width, Height int
	// StderrWidth is the number of columns if stderr is a terminal, else 0.
	StderrWidth int
	// Terminal reports whether stdin and stdout are terminals.
	Terminal bool
	// Getenv is the environment (os.Getenv), Environ all of it.
	Getenv  func(string) string
	Environ []string
	// Now is the time of day, in the zone times are shown in.
	Now func() time.Time
	// Executable returns the absolute path of this program (os.Executable).
	Executable func() (string, error)
	// PID is this process, UID the user that it runs as.
	PID, UID int
	// Adapters are the known agents.
	Adapters []discover.Adapter
	// ReadTable reads the process table.
	ReadTable func(context.Context, bool) (*proc.Table, error)
	// CrossCheck compares the process table with that of go-ps (proc.CrossCheck).
	CrossCheck func(*proc.Table) (int, []proc.Difference, error)
	// Exec replaces this process by an agent's program.
	Exec func(launch.Spec, launch.Environment) error
	// Users has the flags that say whose sessions to find; nil for a command that finds none.
	Users *UserFlags
	// Hosts has the flags that say which machines to ask; nil for a command that asks none.
	Hosts *HostFlags
	// ConfigFailed is told of a configuration file that cannot be read, for a command that then goes on with the defaults; nil if
	// that ends the command.
	ConfigFailed func(error)
	// Remote: the command runs on behalf of another agentctl, which reads what it prints.
	Remote bool
	// Caller is the request of that agentctl; empty if there is none.
	Caller string
	// Version is set by the linker; "" if it was not.
	Version string

	// Report writes to Stderr. [Run] makes it for each command line.
	Report *Reporter
}

// NewEnv returns the environment of this process. version is what the linker set; it may be empty.
func NewEnv(version string) Env {
	caller := os.Getenv(remote.CallerVariable)
	_ = os.Unsetenv(remote.CallerVariable) // it is not for what this process starts
	width, height, _ := terminalSize(os.Stdout, os.Getenv)
	stderrWidth, _, _ := terminalSize(os.Stderr, os.Getenv)
	_, _, typing := terminalSize(os.Stdin, os.Getenv)
	return Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Width: width, Height: height, StderrWidth: stderrWidth, Terminal: typing && width > 0,
		Getenv: os.Getenv, Environ: os.Environ(), Exec: launch.Exec, Executable: os.Executable, Now: time.Now, PID: os.Getpid(), UID: os.Geteuid(),
		Adapters: agents.All(), ReadTable: proc.ReadTable, CrossCheck: proc.CrossCheck, Caller: caller, Version: version,
	}
}

// NewScanner returns a scanner of the agents' homes, with those of the configuration by agent.
func (env Env) NewScanner(homes map[string][]string) *discover.Scanner {
	return &discover.Scanner{
		Adapters: env.Adapters,
		HomeSources: func(a discover.Agent) discover.HomeSources {
			return discover.HomeSources{Getenv: env.Getenv, Configured: homes[string(a)]}
		},
		ReadTable: env.ReadTable, PID: env.PID, UID: env.UID,
		AllUsers: env.Users != nil && env.Users.allUsers,
	}
}

// AgentNames returns the names that --adapter and the table homes of the configuration take.
func (env Env) AgentNames() []string {
	return convert(env.Adapters, func(a discover.Adapter) string { return string(a.Name()) })
}

// The assumed size of a terminal that does not report one.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// terminalSize returns the number of columns and lines if f is a terminal. $COLUMNS and $LINES count only if the terminal
// does not report its size.
func terminalSize(f *os.File, getenv func(string) string) (width, height int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	reported := func(n uint16, name string, otherwise int) int {
		if n > 0 {
			return int(n)
		}
		if n, err := strconv.Atoi(getenv(name)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	return reported(size.Col, "COLUMNS", defaultWidth), reported(size.Row, "LINES", defaultHeight), true
}

// Guide returns a guide to the panes of terminal multiplexers, which asks only those of our own user.
func (env Env) Guide(w *discover.Scanner) launch.Guide {
	return launch.Guide{Host: launch.Environment{Environ: env.Environ}, Reachable: w.Reachable}
}

// Confirm shows on the terminal what a question is about, and asks. Any answer but yes is a no, whose error says that nothing was
// done.
func (env Env) Confirm(ctx context.Context, question, nothingDone string, show func(io.Writer) error) error {
	if err := show(env.Stderr); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(env.Stdin).ReadString('\n') // its end is a no
		answer <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case a := <-answer:
		if a != "y" && a != "yes" {
			return AnswerNo(nothingDone)
		}
	}
	return nil
}
