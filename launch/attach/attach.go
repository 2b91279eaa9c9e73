// Package attach brings a user to the terminal in which a process runs: it selects the pane of a multiplexer, or the window of a terminal
// emulator, by that program's own commands.
//
// What a process's environment says of its pane is input. Before anything is sent, the multiplexer's process is checked to be our
// own user's, in our namespaces, and still the one that started the pane's first process. tmux, WezTerm and kitty say which terminal
// or process a pane has: the pane is found by that, not by the environment. Commands get only names and numbers of what other processes
// have written, each as a separate argument.
package attach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/launch"
	"agentctl/proc"
	"agentctl/proc/multiplexer"
)

// askTimeout bounds how long a multiplexer may take to answer. tmux answers in milliseconds.
const askTimeout = 2 * time.Second

// ErrNotThere: the multiplexer has no pane with the terminal of the process.
var ErrNotThere = errors.New("it has no pane with this terminal any more")

// Guide finds panes, and the ways to them.
type Guide struct {
	// Host is the environment of the commands.
	Host launch.Environment
	// Reachable reports whether a process may be sent something.
	Reachable func(proc.Process) bool
}

// Way is how the user gets to a pane.
type Way struct {
	// Select are commands that select the pane, in their order.
	Select [][]string
	// Attach is the command that shows the pane in this terminal, and replaces this process; nil if the commands before show it.
	Attach []string
	// Set are variables for these commands, as KEY=VALUE.
	Set []string
	// Unset are variables that the commands must not have.
	Unset []string
}

// driver is what differs between the kinds.
type driver struct {
	// locate asks the multiplexer where the pane is now; nil where it cannot tell.
	locate func(context.Context, Guide, multiplexer.Pane) (multiplexer.Pane, error)
	// way returns the way to a pane. inside is set if this process runs in a pane of the same multiplexer process.
	way func(g Guide, to multiplexer.Pane, inside bool) (Way, error)
}

func driverOf(kind multiplexer.Kind) driver {
	return map[multiplexer.Kind]driver{
		multiplexer.Tmux:    {locateTmux, wayTmux},
		multiplexer.Screen:  {nil, wayScreen},
		multiplexer.Zellij:  {nil, wayZellij},
		multiplexer.WezTerm: {locateWezTerm, wayWezTerm},
		multiplexer.Kitty:   {locateKitty, wayKitty},
	}[kind]
}

// Locate asks the multiplexer where the pane is now, and under which name. Where it cannot be asked, or cannot tell, the pane is
// returned as it is. Errors: [ErrNotThere], [launch.ErrUnreachable], and those of the multiplexer's command.
func (g Guide) Locate(ctx context.Context, p multiplexer.Pane) (multiplexer.Pane, error) {
	if err := g.check(p); err != nil {
		return p, err
	}
	locate := driverOf(p.Kind).locate
	if locate == nil {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return locate(ctx, g, p)
}

// Way returns the way from one pane, nil if this process runs in none that is known, to another, as [Guide.Locate] returned it.
func (g Guide) Way(from *multiplexer.Pane, to multiplexer.Pane) (Way, error) {
	if err := g.check(to); err != nil {
		return Way{}, err
	}
	w, err := driverOf(to.Kind).way(g, to, from != nil && from.Server.ID == to.Server.ID)
	if len(w.Attach) > 0 { // in a terminal of their own kind they refuse to run
		w.Unset = append(w.Unset, "TMUX", "TMUX_PANE", "STY", "WINDOW", "ZELLIJ", "ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID")
	}
	return w, err
}

// check returns an error unless the pane is still that of the multiplexer, and the multiplexer may be asked.
func (g Guide) check(p multiplexer.Pane) error {
	leader, err := proc.Inspect(p.Leader.ID.PID)
	switch {
	case err != nil || leader.ID != p.Leader.ID || leader.TTYDevice != p.Leader.TTYDevice || leader.Parent != p.Server.ID.PID:
		return ErrNotThere
	case !g.Reachable(p.Server):
		return launch.ErrUnreachable
	}
	return nil
}

// Environ returns an environment without some variables.
func Environ(environ, unset []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		key, _, _ := strings.Cut(variable, "=")
		return slices.Contains(unset, key)
	})
}

// program returns a command line of a program that is found in PATH. Error: [*NotInstalledError].
func (g Guide) program(name string, args ...string) ([]string, error) {
	path, err := g.Host.LookPath(name)
	if err != nil {
		return nil, &NotInstalledError{name}
	}
	return append([]string{path}, args...), nil
}

// ask runs a command that changes nothing, and returns what it prints.
func (g Guide) ask(ctx context.Context, variables []string, name string, args ...string) (string, error) {
	line, err := g.program(name, args...)
	if err != nil {
		return "", err
	}
	return g.Host.Output(ctx, "", variables, line...)
}

// NotInstalledError says that the multiplexer's program is not in PATH.
type NotInstalledError struct{ Program string }

func (e *NotInstalledError) Error() string {
	return fmt.Sprintf("there is no program %q in PATH", e.Program)
}
