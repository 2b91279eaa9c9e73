package cli

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/launch"
)

// slotOptions say what is launched, and where it works: one agent, or several apart from each other.
type slotOptions struct {
	// entries are the --adapter flags in their order, each with the --model that follows it.
	entries []config.MatrixRow
	// model is the --model of the agent that is named as an argument.
	model                          string
	matrix, worktree, branch, base string
}

func (o *slotOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "adapter", Usage: "launch this `AGENT`; if repeated, each one in its own worktree", Value: flagFunc(o.addAdapter)},
		&cli.GenericFlag{Name: "model", Usage: "use `MODEL`, by the agent's name for it; applies to the --adapter before it", Value: flagFunc(o.setModel)},
		&cli.StringFlag{Name: "matrix", Usage: "launch what `FILE` describes, each launch in its own worktree", Destination: &o.matrix},
		&aloneFlag{cli.StringFlag{Name: "worktree", Usage: "work in a new worktree of `REPO` (default: the repository that contains --cwd)", Destination: &o.worktree}, here},
		&cli.StringFlag{Name: "branch", Usage: "use the branch `B` in the worktree; implies --worktree", Destination: &o.branch},
		&cli.StringFlag{Name: "base-branch", Usage: "start new branches at `B` (default: the commit of --cwd)", Destination: &o.base},
	}
}

// flagFunc is a flag whose values a function takes.
type flagFunc func(string) error

// Set implements [cli.Generic].
func (f flagFunc) Set(value string) error { return f(value) }

func (f flagFunc) String() string { return "" }

// addAdapter takes --adapter.
func (o *slotOptions) addAdapter(agent string) error {
	o.entries = append(o.entries, config.MatrixRow{Agent: agent})
	return nil
}

// setModel takes --model.
func (o *slotOptions) setModel(model string) error {
	last := len(o.entries) - 1
	switch {
	case last >= 0 && len(o.entries[last].Models) > 0, last < 0 && o.model != "":
		return errors.New("an agent takes one model; repeat --adapter for each")
	case last >= 0:
		o.entries[last].Models = []string{model}
	default:
		o.model = model
	}
	return nil
}

// here is the value of --worktree alone.
const here = "."

// aloneFlag is a flag that may stand without its value, which is then this one.
type aloneFlag struct {
	cli.StringFlag
	alone string
}

// runs are the launches that the command line, or the file that it names, asks for.
func (env Env) runs(args []string, o *launchOptions) ([]*agentRun, error) {
	entries := o.entries
	switch {
	case len(args) > 0 && (len(entries) > 0 || o.matrix != ""), len(entries) > 0 && o.matrix != "":
		return nil, badUsage("launch", "an agent as argument, --adapter and --matrix cannot be used together")
	case len(entries) > 0 && o.slotOptions.model != "":
		return nil, badUsage("launch", "--model %s must follow the --adapter that it is for", o.slotOptions.model)
	case o.matrix != "":
		m, err := config.LoadMatrix(o.matrix, env.Getenv("HOME"), env.agentNames())
		if err != nil {
			return nil, err
		}
		entries = o.adopt(m)
	case len(args) > 0:
		entries = []config.MatrixRow{{Agent: args[0]}}
	case len(entries) == 0:
		entries = []config.MatrixRow{{Agent: env.agentNames()[0]}}
	}
	if o.slotOptions.model != "" && o.matrix == "" {
		entries[0].Models = []string{o.slotOptions.model}
	}
	return env.runsOf(entries), o.fits(entries)
}

// adopt takes from a matrix what no flag says.
func (o *launchOptions) adopt(m config.Matrix) []config.MatrixRow {
	if o.prompt == "" && o.promptFile == "" {
		o.prompt, o.literal = m.Prompt, m.Prompt != ""
	}
	if m.Dir != "" && o.dir == "" {
		o.dir = m.Dir
	}
	if o.spec == "" {
		o.spec = m.Spec
	}
	return m.Rows
}

// fits checks that the flags go with the number of launches.
func (o *launchOptions) fits(entries []config.MatrixRow) error {
	several := len(entries) > 1 || o.matrix != ""
	switch {
	case several && o.branch != "":
		return badUsage("launch", "--branch is for one agent; several have a branch each")
	case several && o.output != "":
		return badUsage("launch", "--output is for one agent")
	case o.base != "" && !several && o.worktree == "" && o.branch == "":
		return badUsage("launch", "--base-branch needs --worktree")
	}
	return nil
}

// apart reports whether the launches get worktrees of their own.
func (o *launchOptions) apart(runs []*agentRun) bool {
	return len(runs) > 1 || o.matrix != "" || o.worktree != "" || o.branch != ""
}

// runsOf makes a run of every model of every entry, and gives each a name: the agent's, with the model's where an agent
// comes twice, and a number where that is not enough.
func (env Env) runsOf(entries []config.MatrixRow) []*agentRun {
	var runs []*agentRun
	times := map[string]int{}
	for _, e := range entries {
		models := e.Models
		if len(models) == 0 {
			models = []string{""}
		}
		for _, m := range models {
			runs = append(runs, &agentRun{entry: e, req: launch.Request{Model: m}})
			times[e.Agent]++
		}
	}
	var names []string
	for _, r := range runs {
		name := r.entry.Agent
		if a, ok := discover.AdapterWith[discover.ShortNamer](env.Adapters, discover.Agent(name)); ok {
			name = a.ShortName()
		}
		if short := modelShort(r.req.Model); times[r.entry.Agent] > 1 && short != "" {
			name += "-" + short
		}
		r.name = name
		for n := 2; slices.Contains(names, r.name); n++ {
			r.name = fmt.Sprintf("%s-%d", name, n)
		}
		names = append(names, r.name)
	}
	return runs
}

// modelShort is a model's name as part of a branch's.
func modelShort(model string) string {
	for _, family := range []string{"opus", "sonnet", "haiku"} {
		if strings.Contains(model, family) {
			return family
		}
	}
	short := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, path.Base(model))
	if model == "" {
		return ""
	}
	return strings.Trim(short, "-")
}
