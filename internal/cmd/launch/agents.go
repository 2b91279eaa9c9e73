package launch

import (
	"errors"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/cmdutil/agentrun"
	"agentctl/internal/config"
	"agentctl/launch"
)

// agentOptions has the flags that say which agents to launch, and where: one agent, or several in worktrees of their
// own.
type agentOptions struct {
	// entries are the --adapter flags in their order, each with the --model that follows it.
	entries []config.MatrixRow
	// model is the --model of the agent that is named as an argument.
	model                          string
	matrix, worktree, branch, base string
}

func (o *agentOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "adapter", Usage: "launch this `AGENT`; if repeated, each one in its own worktree", Value: flagFunc(o.addAdapter)},
		&cli.GenericFlag{Name: "model", Usage: "use `MODEL`, by the agent's name for it; applies to the --adapter before it", Value: flagFunc(o.setModel)},
		&cli.StringFlag{Name: "matrix", Usage: "launch what `FILE` describes, each launch in its own worktree", Destination: &o.matrix},
		&cmdutil.OptionalValueFlag{StringFlag: cli.StringFlag{Name: "worktree", Usage: "work in a new worktree of `REPO` (default: the repository that contains --cwd)", Destination: &o.worktree}, Default: currentRepo},
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
func (o *agentOptions) addAdapter(agent string) error {
	o.entries = append(o.entries, config.MatrixRow{Agent: agent})
	return nil
}

// setModel takes --model.
func (o *agentOptions) setModel(model string) error {
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

// currentRepo is the value of --worktree without one.
const currentRepo = "."

// planRuns returns the launches that the command line, or the matrix file, describes.
func planRuns(f cmdutil.Factory, args []string, o *options) ([]*agentrun.Run, error) {
	entries := o.entries
	switch {
	case len(args) > 0 && (len(entries) > 0 || o.matrix != ""), len(entries) > 0 && o.matrix != "":
		return nil, cmdutil.UsageError("launch", "an agent as argument, --adapter and --matrix cannot be used together")
	case len(entries) > 0 && o.agentOptions.model != "":
		return nil, cmdutil.UsageError("launch", "--model %s must follow the --adapter that it is for", o.agentOptions.model)
	case o.matrix != "":
		m, err := config.LoadMatrix(o.matrix, f.Getenv("HOME"), f.AgentNames())
		if err != nil {
			return nil, err
		}
		entries = o.applyMatrix(m)
	case len(args) > 0:
		entries = []config.MatrixRow{{Agent: args[0]}}
	case len(entries) == 0:
		entries = []config.MatrixRow{{Agent: f.AgentNames()[0]}}
	}
	if o.agentOptions.model != "" && o.matrix == "" {
		entries[0].Models = []string{o.agentOptions.model}
	}
	return newRuns(f, entries), o.checkNumber(entries)
}

// applyMatrix takes from a matrix what no flag sets, and returns its rows.
func (o *options) applyMatrix(m config.Matrix) []config.MatrixRow {
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

// checkNumber checks that the flags fit the number of launches.
func (o *options) checkNumber(entries []config.MatrixRow) error {
	several := len(entries) > 1 || o.matrix != ""
	switch {
	case several && o.branch != "":
		return cmdutil.UsageError("launch", "--branch is for one agent; several have a branch each")
	case several && o.Output != "":
		return cmdutil.UsageError("launch", "--output is for one agent")
	case o.base != "" && !several && o.worktree == "" && o.branch == "":
		return cmdutil.UsageError("launch", "--base-branch needs --worktree")
	}
	return nil
}

// needsWorktrees reports whether the launches get worktrees of their own.
func (o *options) needsWorktrees(runs []*agentrun.Run) bool {
	return len(runs) > 1 || o.matrix != "" || o.worktree != "" || o.branch != ""
}

// newRuns makes a run for every model of every entry.
func newRuns(f cmdutil.Factory, entries []config.MatrixRow) []*agentrun.Run {
	var runs []*agentrun.Run
	var members []launch.Member
	for _, e := range entries {
		models := e.Models
		if len(models) == 0 {
			models = []string{""}
		}
		for _, m := range models {
			members = append(members, launch.Member{Agent: discover.Agent(e.Agent), Model: m})
			runs = append(runs, &agentrun.Run{Entry: e, Request: launch.Request{Model: m}})
		}
	}
	launch.NameMembers(f.Adapters, members)
	for i, m := range members {
		runs[i].Name = m.Name
	}
	return runs
}
