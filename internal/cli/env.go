package cli

import (
	"context"
	"io"
	"os"
	"time"

	"agentctl/discover"
	"agentctl/discover/agents"
	"agentctl/proc"
)

// Env is everything a command touches outside of its arguments. Nothing below reads it from the process.
type Env struct {
	// Stdout takes data only, Stderr what is said about it.
	Stdout, Stderr io.Writer
	// Width is the number of columns if stdout is a terminal, else 0.
	Width int
	// Interactive: stderr is a terminal.
	Interactive bool
	// Getenv is the environment (os.Getenv).
	Getenv func(string) string
	// Now is the time of day, in the zone times are shown in.
	Now func() time.Time
	// PID is our own process.
	PID int
	// Adapters are the agents known.
	Adapters []discover.Adapter
	// Take reads the process table.
	Take func(context.Context) (*proc.Table, error)
	// Version was stamped in by the linker; "" if it was not.
	Version string
}

// System is the real environment of this process. version is what the linker stamped in, "" if nothing.
func System(version string) Env {
	width, _ := terminalWidth(os.Stdout, os.Getenv)
	_, interactive := terminalWidth(os.Stderr, os.Getenv)
	return Env{
		Stdout: os.Stdout, Stderr: os.Stderr,
		Width: width, Interactive: interactive,
		Getenv: os.Getenv, Now: time.Now, PID: os.Getpid(),
		Adapters: agents.All(), Take: proc.Take, Version: version,
	}
}

// world is the engine, looking where the settings say.
func (env Env) world(homes map[string][]string) *discover.World {
	return &discover.World{
		Adapters: env.Adapters,
		Setup: func(a discover.Agent) discover.Setup {
			return discover.Setup{Getenv: env.Getenv, Configured: homes[string(a)]}
		},
		Take: env.Take,
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
