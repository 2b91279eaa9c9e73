package cli

import (
	"cmp"
	"errors"

	"github.com/urfave/cli/v2"

	"agentctl/internal/config"
	"agentctl/launch"
)

// choice is an agent, and the model that it is to use; "" leaves the model to the agent.
type choice struct{ agent, model string }

// agentOptions has the flags that say which agents to launch, and where: one agent, or several in worktrees of their
// own.
type agentOptions struct {
	// chosen are the --adapter flags in their order, each with the --model that follows it.
	chosen []choice
	// model is the --model of the agent that is named as an argument.
	model                          string
	matrix, worktree, branch, base string
}

func (o *agentOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "adapter", Usage: "launch this `AGENT`; if repeated, each one in its own worktree", Value: flagFunc(o.addAdapter)},
		&cli.GenericFlag{Name: "model", Usage: "use `MODEL`, by the agent's name for it; applies to the --adapter before it", Value: flagFunc(o.setModel)},
		&cli.StringFlag{Name: "matrix", Usage: "launch what `FILE` describes, each launch in its own worktree", Destination: &o.matrix},
		&OptionalValueFlag{StringFlag: cli.StringFlag{Name: "worktree", Usage: "work in a new worktree of `REPO` (default: the repository that contains --cwd)", Destination: &o.worktree}, Default: currentRepo},
		&cli.StringFlag{Name: "branch", Usage: "use the branch `B` in the worktree; implies --worktree", Destination: &o.branch},
		&cli.StringFlag{Name: "base-branch", Usage: "start new branches at `B` (default: the commit of --cwd)", Destination: &o.base},
	}
}

// flagFunc is a flag whose values a function takes.
type flagFunc func(string) error

func (f flagFunc) Set(value string) error { return f(value) }

func (f flagFunc) String() string { return "" }

func (o *agentOptions) addAdapter(agent string) error {
	o.chosen = append(o.chosen, choice{agent: agent})
	return nil
}

func (o *agentOptions) setModel(model string) error {
	of := &o.model
	if last := len(o.chosen) - 1; last >= 0 {
		of = &o.chosen[last].model
	}
	if *of != "" {
		return errors.New("an agent takes one model; repeat --adapter for each")
	}
	*of = model
	return nil
}

// currentRepo is the value of --worktree without one.
const currentRepo = "."

// isGroup reports whether the flags describe a launch group: several agents, or a matrix of one or more.
func (o *launchOptions) isGroup() bool { return len(o.chosen) > 1 || o.matrix != "" }

// checkAgents refuses flags that do not go together.
func (o *launchOptions) checkAgents(args []string) error {
	switch group := o.isGroup(); {
	case len(args) > 0 && (len(o.chosen) > 0 || o.matrix != ""), len(o.chosen) > 0 && o.matrix != "":
		return UsageError("launch", "an agent as argument, --adapter and --matrix cannot be used together")
	case len(o.chosen) > 0 && o.model != "":
		return UsageError("launch", "--model %s must follow the --adapter that it is for", o.model)
	case group && o.branch != "":
		return UsageError("launch", "--branch is for one agent; several have a branch each")
	case group && o.Output != "":
		return UsageError("launch", "--output is for one agent")
	case o.base != "" && !group && o.worktree == "" && o.branch == "":
		return UsageError("launch", "--base-branch needs --worktree")
	}
	return nil
}

// agent returns the one agent to launch: the argument, that of --adapter, or the default.
func (o *launchOptions) agent(f Factory, args []string) (launch.Member, error) {
	c := choice{f.AgentNames()[0], o.model}
	for _, name := range args {
		c.agent = name
	}
	for _, chosen := range o.chosen {
		c = chosen
	}
	adapter, err := Adapter(f, c.agent)
	m := launch.Member{Adapter: adapter, Model: c.model, Branch: o.branch, Base: o.base}
	if err == nil {
		m.Name = m.ShortName()
	}
	return m, err
}

// members returns the members of the launch group: the agents of --adapter, or one for every model of every row of the matrix.
func (o *launchOptions) members(f Factory) ([]launch.Member, error) {
	var rows []config.MatrixRow
	for _, c := range o.chosen {
		rows = append(rows, config.MatrixRow{Agent: c.agent, Models: []string{c.model}})
	}
	if o.matrix != "" {
		m, err := config.LoadMatrix(o.matrix, f.Getenv("HOME"), f.AgentNames())
		if err != nil {
			return nil, err
		}
		rows = o.applyMatrix(m)
	}
	var members []launch.Member
	for _, row := range rows {
		adapter, err := Adapter(f, row.Agent)
		if err != nil {
			return nil, err
		}
		m := launch.Member{Adapter: adapter, Branch: row.Branch, Base: cmp.Or(row.Base, o.base)}
		if len(row.Models) == 0 {
			members = append(members, m)
		}
		for _, m.Model = range row.Models {
			members = append(members, m)
		}
	}
	launch.NameMembers(members)
	return members, nil
}

// applyMatrix takes from a matrix what no flag sets, and returns its rows.
func (o *launchOptions) applyMatrix(m config.Matrix) []config.MatrixRow {
	if o.Prompt == "" && o.PromptFile == "" {
		o.Prompt, o.Literal = m.Prompt, m.Prompt != ""
	}
	if m.Dir != "" && o.dir == "" {
		o.dir = m.Dir
	}
	if o.Spec == "" {
		o.Spec = m.Spec
	}
	return m.Rows
}
