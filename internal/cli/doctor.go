package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/output"
	"agentctl/proc"
)

func newDoctor(env Env) *cli.Command {
	o := &common{}
	return &cli.Command{
		Usage:     "show what agentctl finds on this machine: programs, stores, processes, configuration",
		UsageText: "agentctl doctor [FLAGS]",
		Flags:     []cli.Flag{jsonFlag(&o.json), noColorFlag(&o.noColor)},
		Action: func(c *cli.Context) error {
			return env.doctor(c.Context, o)
		},
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
}

type processFindings struct {
	Seen int `json:"seen"`
	// Agents counts processes that run sessions, Unreadable those of them whose sessions cannot be read.
	Agents     int `json:"agents"`
	Unreadable int `json:"unreadable"`
	// Hidden: the system shows us our own processes only.
	Hidden bool `json:"hidden"`
	// CrossCheck is absent where there was no process table to compare, or go-ps could not read it.
	CrossCheck *crossCheck `json:"crossCheck,omitempty"`
}

// crossCheck is the comparison of the process table with the one that go-ps reads.
type crossCheck struct {
	Compared    int               `json:"compared"`
	Differences []proc.Difference `json:"differences"`
}

func (env Env) doctor(ctx context.Context, o *common) error {
	c, err := env.call("doctor", o, nil)
	if err != nil {
		return err
	}
	working, done := env.query(ctx, "examining the agents' stores")
	f, err := c.examine(working)
	done()
	if err != nil {
		return err
	}
	if o.json {
		err = output.JSON(env.Stdout, f)
	} else {
		err = f.write(env.Stdout, config.Path(env.Getenv), c.look)
	}
	if err != nil {
		return err
	}
	for _, w := range f.Warnings {
		env.warning(w)
	}
	if len(f.Warnings) > 0 {
		return errPartial
	}
	return nil
}

// examine asks every agent's reader what there is.
func (c *call) examine(ctx context.Context) (findings, error) {
	f := findings{Config: c.Config, Agents: []agentFindings{}, Warnings: []string{}}
	live, err := c.world.List(ctx, discover.SessionFilter{Subagents: true})
	if err != nil {
		return f, err
	}
	f.Processes = processesOf(live)
	if !live.ProcessesUnknown {
		f.Processes.CrossCheck, err = c.crossCheckProcesses(live.Table)
		f.warn(err)
	}
	for _, w := range live.Warnings {
		f.warn(w)
	}
	for _, a := range c.Adapters {
		agent := agentFindings{Adapter: string(a.Name()), Binaries: c.binaries(a), Homes: []homeFindings{}}
		for _, home := range c.world.Homes(a, live.Table) {
			h, err := examineHome(ctx, a, home, live.Sessions)
			f.warn(err)
			agent.Homes = append(agent.Homes, h)
		}
		f.Agents = append(f.Agents, agent)
	}
	return f, ctx.Err()
}

// warn notes each of the joined errors once.
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

// crossCheckProcesses compares the process table with that of go-ps.
func (env Env) crossCheckProcesses(table *proc.Table) (*crossCheck, error) {
	compared, differences, err := env.CrossCheck(table)
	if err != nil {
		return nil, err
	}
	return &crossCheck{compared, append([]proc.Difference{}, differences...)}, nil
}

// plural is a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
