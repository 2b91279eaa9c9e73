// Package doctor is the command doctor.
package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/config"
	"agentctl/internal/output"
	"agentctl/proc"
)

func New(f cmdutil.Factory) *cli.Command {
	o := &cmdutil.CommonFlags{}
	return &cli.Command{
		Usage:              "show what agentctl finds on this machine: programs, stores, processes, configuration",
		UsageText:          "agentctl doctor [FLAGS]",
		Flags:              []cli.Flag{cmdutil.JSONFlag(&o.JSON), cmdutil.NoColorFlag(&o.NoColor)},
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl doctor", "agentctl doctor --json"),
		Action:             func(c *cli.Context) error { return run(c.Context, f, o) },
	}
}

// findings is what doctor prints; its field names are the JSON contract.
type findings struct {
	Agents    []agentFindings `json:"agents"`
	Processes processFindings `json:"processes"`
	Config    config.Config   `json:"config"`
	Warnings  []string        `json:"warnings"`
}

type agentFindings struct {
	Adapter  string         `json:"adapter"`
	Binaries []binary       `json:"binaries"`
	Homes    []homeFindings `json:"homes"`
	triedFindings
}

type processFindings struct {
	Seen int `json:"seen"`
	// Agents counts processes that run sessions, Unreadable those whose sessions cannot be read.
	Agents     int `json:"agents"`
	Unreadable int `json:"unreadable"`
	// Hidden: the system shows this user's processes only.
	Hidden bool `json:"hidden"`
	// CrossCheck is absent if there was no process table to compare, or go-ps could not read it.
	CrossCheck *crossCheck `json:"crossCheck,omitempty"`
}

// crossCheck is the comparison of the process table with the one that go-ps reads.
type crossCheck struct {
	Compared    int               `json:"compared"`
	Differences []proc.Difference `json:"differences"`
}

func run(ctx context.Context, f cmdutil.Factory, o *cmdutil.CommonFlags) error {
	c, err := f.NewCall("doctor", o, nil)
	if err != nil {
		return err
	}
	working, done := f.StartWork(ctx, "examining the agents' stores")
	found, err := examine(working, c)
	done()
	if err != nil {
		return err
	}
	if o.JSON {
		err = output.JSON(f.Stdout, found)
	} else {
		err = found.write(f.Stdout, config.Path(f.Getenv), c.Style)
	}
	if err != nil {
		return err
	}
	for _, w := range found.Warnings {
		f.Warn(w)
	}
	for _, a := range found.Agents {
		if w := a.warning(a.Adapter); w != "" {
			f.Warn(w)
		}
	}
	if len(found.Warnings) > 0 {
		return cmdutil.ErrPartial
	}
	return nil
}

// examine reads what there is of every agent.
func examine(ctx context.Context, c *cmdutil.Call) (findings, error) {
	f := findings{Config: c.Config, Agents: []agentFindings{}, Warnings: []string{}}
	live, err := c.Scanner.List(ctx, discover.SessionFilter{Subagents: true})
	if err != nil {
		return f, err
	}
	f.Processes = processesOf(live)
	if !live.ProcessesUnknown {
		compared, differences, err := c.CrossCheck(live.Table)
		if f.warn(err); err == nil {
			f.Processes.CrossCheck = &crossCheck{compared, append([]proc.Difference{}, differences...)}
		}
	}
	for _, w := range live.Warnings {
		f.warn(w)
	}
	for _, a := range c.Adapters {
		agent := agentFindings{Adapter: string(a.Name()), Binaries: binaries(c.Factory, a), Homes: []homeFindings{}}
		for _, home := range c.Scanner.Homes(a, live.Table) {
			h, err := examineHome(ctx, a, home, live.Sessions)
			f.warn(err)
			agent.Homes = append(agent.Homes, h)
		}
		agent.triedFindings, err = examineTried(ctx, c.Scanner, a, live.Sessions)
		f.warn(err)
		f.Agents = append(f.Agents, agent)
	}
	return f, ctx.Err()
}

// warn stores each of the joined errors once.
func (f *findings) warn(err error) {
	if err == nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			f.warn(e)
		}
		return
	}
	if text := err.Error(); !slices.Contains(f.Warnings, text) {
		f.Warnings = append(f.Warnings, text)
	}
}

func processesOf(live discover.Result) processFindings {
	p := processFindings{Seen: live.Table.Len(), Hidden: live.Table.Hidden()}
	running, unreadable := map[int]bool{}, map[int]bool{}
	for _, s := range live.Sessions {
		for _, process := range s.Processes {
			running[process.ID.PID] = true
		}
		for _, e := range s.Evidence {
			if e.Unreadable != "" {
				unreadable[e.Process.PID] = true
			}
		}
	}
	p.Agents, p.Unreadable = len(running), len(unreadable)
	return p
}

func plural(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
