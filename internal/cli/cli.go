// Package cli is the command line: it turns arguments into a question, asks the engine, and renders the answer.
//
// One file a verb: an options struct, a constructor that only parses, and a run function that works. Every way of
// ending is decided in one switch, in exit.go.
package cli

import (
	"context"

	"github.com/urfave/cli/v2"
)

// Main runs one command line, the program's name first, and returns the exit code.
func Main(args []string, env Env) int {
	return env.finish(args, env.run(context.Background(), args[1:]))
}

// run returns nil, or why the command failed.
func (env Env) run(ctx context.Context, args []string) error {
	app := newApp(env)
	args, err := arrange(app, args)
	if err != nil {
		return err
	}
	if verb := app.Command(args[0]); verb != nil {
		app.Commands = []*cli.Command{verb} // the library spends time on every flag of every command it has
	}
	return app.RunContext(ctx, append([]string{app.Name}, args...))
}

// program is our name.
const program = "agentctl"

// newApp makes the commands. There are no global flags: every flag belongs to a verb.
func newApp(env Env) *cli.App {
	app := &cli.App{
		Name:            program,
		Usage:           "tell the truth about coding-agent sessions on this machine",
		UsageText:       "agentctl COMMAND [FLAGS] [ARGUMENTS]",
		Writer:          env.Stdout,
		ErrWriter:       env.Stderr,
		HideVersion:     true,
		HideHelpCommand: true,
		// A comma in a directory or a prompt separates nothing.
		DisableSliceFlagSeparator: true,
		// The library's own handler would end the process.
		ExitErrHandler: func(*cli.Context, error) {},
		Commands: []*cli.Command{
			newList(env), newStatus(env), newPeek(env), newLogs(env), newLaunch(env), newResume(env), newWait(env), newEvents(env), newStop(env),
			newCurrent(env), newGuard(env), newLock(env), newUnlock(env), newLocks(env), newWorktree(env), newHooks(env), newMetrics(env), newDoctor(env),
			newSchema(env), newCompletion(env), newVersion(env), newComplete(env),
		},
	}
	for _, c := range app.Commands {
		prepare(c)
	}
	return app
}

// prepare sets what all commands have in common, and those below them.
func prepare(c *cli.Command) {
	c.HideHelpCommand = true
	c.OnUsageError = func(c *cli.Context, err error, _ bool) error { return badFlag(c.Command, err) }
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
