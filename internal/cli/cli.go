// Package cli is the command line: it turns arguments into a question, asks the engine, and renders the answer.
//
// One file a verb: an options struct, a constructor that only parses, and a run function that works. Every way of
// ending is decided in one switch, in exit.go.
package cli

import (
	"cmp"
	"context"
	"io"

	"github.com/urfave/cli/v2"
)

// runApp runs one command line, without the program's name, and returns the exit code. Of the commands it makes those that
// the command line names.
func runApp(ctx context.Context, env Env, verbs []verb, args []string) int {
	env.report = newReporter(env.Stderr)
	args = verbFirst(args)
	app := newApp(env, called(verbs, args))
	arranged, err := arrange(app, args)
	if err != nil {
		env.report.json = wantsJSON(args)
		return env.finish(err)
	}
	env.report.json = wantsJSON(arranged)
	help := &checked{to: app.Writer}
	app.Writer = help
	err = app.RunContext(ctx, append([]string{app.Name}, arranged...))
	return env.finish(cmp.Or(err, help.err))
}

// checked remembers the first error of writing, for the library, which writes the help and does not look.
type checked struct {
	to  io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.err = cmp.Or(c.err, err)
	return n, err
}

// program is our name.
const program = "agentctl"

// newApp makes these commands. There are no global flags: every flag belongs to a verb.
func newApp(env Env, verbs []verb) *cli.App {
	app := &cli.App{
		Name:            program,
		Usage:           "show and control the coding-agent sessions on this machine",
		UsageText:       "agentctl COMMAND [FLAGS] [ARGUMENTS]\nagentctl --version",
		Writer:          env.Stdout,
		ErrWriter:       env.Stderr,
		HideVersion:     true,
		HideHelpCommand: true,
		// A comma in a directory or a prompt separates nothing.
		DisableSliceFlagSeparator: true,
		// The library's own handler would end the process.
		ExitErrHandler: func(*cli.Context, error) {},
	}
	for _, v := range verbs {
		app.Commands = append(app.Commands, v.command(env))
	}
	return app
}

// prepare sets what all commands have in common, and those below them.
func prepare(c *cli.Command) {
	c.HideHelpCommand = true
	template := cli.CommandHelpTemplate
	if len(c.Subcommands) > 0 {
		template = cli.SubcommandHelpTemplate
	}
	c.CustomHelpTemplate = withExamples(template, examples(verbOf(c)))
	c.OnUsageError = func(c *cli.Context, err error, _ bool) error { return badFlag(c.Command, err) }
	if c.ArgsUsage == "" && len(c.Subcommands) == 0 && !c.SkipFlagParsing {
		run := c.Action
		c.Action = func(c *cli.Context) error {
			if _, err := arguments(c, 0, ""); err != nil {
				return err
			}
			return run(c)
		}
	}
	for _, f := range c.Flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.DisableDefaultText = true // "(default: false)" behind nearly every line of the help
		}
	}
	for _, below := range c.Subcommands {
		below.HelpName = program + " " + verbOf(c) + " " + below.Name
		prepare(below)
	}
}
