// Package launch is the command launch.
package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/launch"
)

type launchOptions struct {
	PromptOptions
	Options
	agentOptions
	dir, name, group string
	vars             cli.StringSlice
}

func launchCommand(f Factory) *cli.Command {
	o := &launchOptions{}
	return &cli.Command{
		Usage:     "start an agent with a prompt, and print the ID of its session",
		UsageText: "agentctl launch [AGENT] -p PROMPT [FLAGS] [-- AGENT-FLAGS]",
		Description: "AGENT is " + agentChoice(f.AgentNames()) + ". It runs in the background, independent of this\n" +
			"terminal. Arguments after -- go to it unchanged.",
		ArgsUsage: "[AGENT] [-- AGENT-FLAGS]",
		Flags: slices.Concat(o.PromptOptions.Flags(), []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "put what was said in the session `ID`, of any agent, before the prompt: its newest part within --max-file-size, without keys and passwords", Destination: &o.From},
			&cli.StringFlag{Name: "cwd", Usage: "work in `DIR`", Destination: &o.dir},
			&cli.StringFlag{Name: "name", Usage: "give the session the title `NAME`", Destination: &o.name},
			&cli.StringFlag{Name: "group", Usage: "add the session to the group `G`", Destination: &o.group},
			&cli.StringSliceFlag{Name: "env", Usage: "set a variable for the agent: `K=V` (may be repeated)", Destination: &o.vars},
		}, o.agentOptions.flags(), o.Options.Flags()),
		CustomHelpTemplate: HelpTemplate(
			`agentctl launch codex --cwd ~/src/api -p "make the tests pass"`,
			`agentctl launch -p "fix the login test" --permissions edit --wait --max-time 30m`,
			`agentctl launch -p "port the parser" --adapter claude-code --adapter codex --group parser`,
		),
		Action: func(c *cli.Context) error {
			args, rest := SplitPassed(c.Args().Slice())
			if len(args) > 1 {
				return UsageError("launch", "launch does not take the argument %q; the prompt follows -p, the agent's own flags follow --", args[1])
			}
			return runLaunch(c.Context, f, args, rest, o)
		},
	}
}

// agentChoice lists names for the help, the default first.
func agentChoice(names []string) string {
	text := strings.Replace(strings.Join(names, ", "), ",", " (the default),", 1)
	if last := strings.LastIndex(text, ", "); last >= 0 {
		text = text[:last] + " or " + text[last+len(", "):]
	}
	return text
}

func runLaunch(ctx context.Context, f Factory, args, rest []string, o *launchOptions) error {
	if f.OnHosts() {
		return launchRunOnHost(ctx, f, args, rest, o)
	}
	if err := o.Check("launch"); err != nil {
		return err
	}
	c, err := f.NewCall("launch", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	if err := o.checkAgents(args); err != nil {
		return err
	}
	var one launch.Member
	var members []launch.Member
	if o.isGroup() {
		members, err = o.members(f)
	} else {
		one, err = o.agent(f, args)
	}
	if err != nil {
		return err
	}
	l := launcher{Starter: Starter{Call: c, Options: &o.Options}, request: launch.Request{Name: o.name, Args: rest}}
	if l.request.Permissions, err = o.Permitted("launch"); err != nil {
		return err
	}
	if l.request.Dir, err = WorkDir("launch", o.dir); err != nil {
		return err
	}
	if o.From != "" {
		if err := o.ReadFrom(ctx, c, "launch"); err != nil {
			return err
		}
	}
	if l.request.Prompt, err = o.Text(ctx, f, "launch", l.request.Dir); err != nil {
		return err
	}
	if err := l.chooseWorktrees(o); err != nil {
		return err
	}
	if l.request.Variables, err = Variables(o.vars.Value(), l.group.Name); err != nil {
		return err
	}
	if o.isGroup() {
		return l.launchGroup(ctx, members)
	}
	return l.launchOne(ctx, one)
}
