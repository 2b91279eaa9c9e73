package cli

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/launch"
)

// Options has the flags of every start of an agent.
type Options struct {
	CommonFlags
	permissions, Output        string
	timeout, maxTime           time.Duration
	killOnTimeout, force, Wait bool
	onCreate, onComplete       string
}

// idTimeout is how long a launch waits for the proof of its session: many times what the slowest agent takes.
const idTimeout = time.Minute

// Flags returns the flags of every start.
func (o *Options) Flags() []cli.Flag {
	o.timeout = idTimeout
	return []cli.Flag{
		&cli.StringFlag{Name: "permissions", Usage: "what the agent may do without asking: `P` is own (as its configuration says), edit or full", Destination: &o.permissions},
		&cli.StringFlag{Name: "output", Usage: "append what the agent prints to `FILE` (default: discarded)", Destination: &o.Output},
		DurationFlag("timeout", "how long to wait for the session to appear: `D`", &o.timeout),
		&cli.BoolFlag{Name: "kill-on-timeout", Usage: "end the agent if its session does not appear in time", Destination: &o.killOnTimeout},
		&cli.BoolFlag{Name: "force", Usage: "start even if another session is working here", Destination: &o.force},
		&cli.BoolFlag{Name: "wait", Usage: "wait until the turn ends and print its answer; exit with its result", Destination: &o.Wait},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "with --wait: print the ID only, not the answer", Destination: &o.Quiet},
		LimitFlag("max-time", "with --wait: stop the session after `D`", &o.maxTime),
		&cli.StringFlag{Name: "on-create", Usage: "run the shell command `S` once the session has appeared", Destination: &o.onCreate},
		&cli.StringFlag{Name: "on-complete", Usage: "with --wait: run the shell command `S` when the turn has ended", Destination: &o.onComplete},
		JSONFlag(&o.JSON),
	}
}

// Check refuses flags that do not go together, or that name what does not exist.
func (o *Options) Check(verb string) error {
	if o.Output != "" {
		if err := CheckDirectory(filepath.Dir(o.Output)); err != nil {
			return UsageError(verb, "--output: %v", err)
		}
	}
	return o.CheckFlags(verb)
}

// CheckFlags refuses flags that do not go together on any machine.
func (o *Options) CheckFlags(verb string) error {
	switch {
	case !o.Wait && o.Quiet:
		return UsageError(verb, "--quiet needs --wait")
	case !o.Wait && o.maxTime > 0:
		return UsageError(verb, "--max-time needs --wait")
	case !o.Wait && o.onComplete != "":
		return UsageError(verb, "--on-complete needs --wait")
	}
	return nil
}

// Adapter returns the adapter of the agent with that name, an error if the agent cannot be launched.
func Adapter(f Factory, name string) (launch.Adapter, error) {
	chosen, err := f.ChosenAgents([]string{name})
	if err != nil {
		return nil, err
	}
	return launch.AdapterOf(f.Adapters, chosen[0]), nil
}

func (o *Options) Permitted(verb string) (launch.Permissions, error) {
	p := launch.Permissions(o.permissions)
	switch p {
	case "":
		return launch.PermissionsOwn, nil
	case launch.PermissionsOwn, launch.PermissionsEdit, launch.PermissionsFull:
		return p, nil
	}
	return "", UsageError(verb, "--permissions must be own, edit or full, not %q", o.permissions)
}

// Variables returns the variables of --env and --group for the agent's environment.
func Variables(pairs []string, group string) ([]string, error) {
	var out []string
	if group != "" {
		out = append(out, discover.GroupEnv+"="+group)
	}
	for _, pair := range pairs {
		key, _, ok := strings.Cut(pair, "=")
		if !ok || key == "" || strings.ContainsRune(pair, 0) {
			return nil, UsageError("launch", "--env %q is not KEY=VALUE", pair)
		}
		out = append(out, pair)
	}
	return out, nil
}
