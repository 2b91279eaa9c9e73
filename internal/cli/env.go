package cli

import (
	"context"
	"io"
	"os"
	"time"

	"agentctl/discover"
	"agentctl/discover/agents"
	"agentctl/launch"
	"agentctl/proc"
)

// Env is everything a command touches outside of its arguments. Nothing below reads it from the process.
type Env struct {
	// Stdin is read only where a flag asks for it.
	Stdin io.Reader
	// Stdout takes data only, Stderr what is reported about it, by way of report.
	Stdout, Stderr io.Writer
	// Width and Height are the number of columns and lines if stdout is a terminal, else 0.
	Width, Height int
	// Interactive: stderr is a terminal.
	Interactive bool
	// Terminal: stdin and stdout are one, for a person to talk in.
	Terminal bool
	// Getenv is the environment (os.Getenv), Environ all of it.
	Getenv  func(string) string
	Environ []string
	// Now is the time of day, in the zone times are shown in.
	Now func() time.Time
	// Executable is the path of our own program (os.Executable).
	Executable func() (string, error)
	// PID is our own process, UID the user it runs as.
	PID, UID int
	// Adapters are the agents known.
	Adapters []discover.Adapter
	// Take reads the process table.
	Take func(context.Context) (*proc.Table, error)
	// CrossCheck compares the process table with that of go-ps (proc.CrossCheck).
	CrossCheck func(*proc.Table) (int, []proc.Difference, error)
	// Become replaces this process by an agent's program.
	Become func(launch.Spec, launch.Environment) error
	// users is whose sessions the command is about; nil where it looks for none.
	users *users
	// Version was stamped in by the linker; "" if it was not.
	Version string

	// report writes to Stderr; it is made for each command line.
	report *reporter
}

// System is the real environment of this process. version is what the linker stamped in, "" if nothing.
func System(version string) Env {
	width, height, _ := terminalSize(os.Stdout, os.Getenv)
	_, _, interactive := terminalSize(os.Stderr, os.Getenv)
	_, _, typing := terminalSize(os.Stdin, os.Getenv)
	return Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Width: width, Height: height, Interactive: interactive, Terminal: typing && width > 0,
		Getenv: os.Getenv, Environ: os.Environ(), Become: launch.Exec, Executable: os.Executable, Now: time.Now, PID: os.Getpid(), UID: os.Geteuid(),
		Adapters: agents.All(), Take: proc.ReadTable, CrossCheck: proc.CrossCheck, Version: version,
	}
}

// world is the engine, looking where the settings say.
func (env Env) world(homes map[string][]string) *discover.Scanner {
	return &discover.Scanner{
		Adapters: env.Adapters,
		HomeSources: func(a discover.Agent) discover.HomeSources {
			return discover.HomeSources{Getenv: env.Getenv, Configured: homes[string(a)]}
		},
		ReadTable: env.Take, PID: env.PID, UID: env.UID,
		AllUsers: env.users != nil && env.users.allUsers,
	}
}

// agentNames are the names that --adapter and [homes] take.
func (env Env) agentNames() []string {
	var names []string
	for _, a := range env.Adapters {
		names = append(names, string(a.Name()))
	}
	return names
}
