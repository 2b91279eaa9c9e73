// Package cli is the command line: a file for each command, and what the commands share, from the flags to the exit code.
package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/launch"
)

// Main runs one command line, the program's name first, and returns the exit code. It may be that of the agentctl of another machine.
func Main(args []string, env Env) int {
	if env.Caller != "" {
		return env.Answer(context.Background(), args[1:])
	}
	return Run(context.Background(), env, args[1:]...)
}

// Run runs one command line, without the program's name, and returns the exit code.
func Run(ctx context.Context, env Env, args ...string) int {
	env.Report = NewReporter(env.Stderr)
	env.Report.width = env.StderrWidth
	env.Hosts = &HostFlags{}
	app := NewApp(env)
	arranged, err := ArrangeArgs(app, args)
	if err != nil {
		env.Report.JSON = WantsJSON(args)
		return env.Finish(err)
	}
	env.Report.JSON, env.Report.quiet = WantsJSON(arranged), setsFlag(arranged, "--quiet")
	env.Hosts.words = arranged
	var help bytes.Buffer // the library would ignore errors of Stdout
	app.Writer = &help
	err = app.RunContext(ctx, append([]string{app.Name}, arranged...))
	if help.Len() > 0 {
		_, failed := io.WriteString(env.Stdout, env.wrapHelp(help.String()))
		err = cmp.Or(err, failed)
	}
	return env.Finish(err)
}

// Verbs are all commands, in the order of the help.
func Verbs() []Verb {
	return []Verb{
		{Name: "list", Group: groupSee, New: listCommand, Aliases: []string{"ls", "ps"}, FindsSessions: true, TakesHosts: true},
		{Name: "top", Group: groupSee, New: topCommand, FindsSessions: true, TakesHosts: true},
		{Name: "status", Group: groupSee, New: statusCommand, Aliases: []string{"show"}, FindsSessions: true, TakesHosts: true},
		{Name: "peek", Group: groupSee, New: peekCommand, FindsSessions: true, TakesHosts: true},
		{Name: "logs", Group: groupSee, New: logsCommand, FindsSessions: true, TakesHosts: true},
		{Name: "search", Group: groupSee, New: searchCommand, FindsSessions: true, TakesHosts: true},
		{Name: "current", Group: groupSee, New: currentCommand, FindsSessions: true},
		{Name: "launch", Group: groupAct, New: launchCommand, TakesHosts: true, LocalFlags: []string{"matrix"}},
		{Name: "resume", Group: groupAct, New: resumeCommand, FindsSessions: true, TakesHosts: true, LocalFlags: []string{"last", "tmux"}},
		{Name: "send", Group: groupAct, New: sendCommand, FindsSessions: true, TakesHosts: true},
		{Name: "answer", Group: groupAct, New: answerCommand, FindsSessions: true, TakesHosts: true},
		{Name: "attach", Group: groupAct, New: attachCommand, FindsSessions: true, TakesHosts: true},
		{Name: "stop", Group: groupAct, New: stopCommand, FindsSessions: true, TakesHosts: true},
		{Name: "wait", Group: groupWait, New: waitCommand, FindsSessions: true, TakesHosts: true},
		{Name: "events", Group: groupWait, New: eventsCommand, FindsSessions: true, TakesHosts: true},
		{Name: "guard", Group: groupShare, New: guardCommand, FindsSessions: true},
		{Name: "lock", Group: groupShare, New: lockCommand, FindsSessions: true},
		{Name: "unlock", Group: groupShare, New: unlockCommand, FindsSessions: true},
		{Name: "locks", Group: groupShare, New: locksCommand, FindsSessions: true},
		{Name: "worktree", Group: groupShare, New: worktreeCommand, FindsSessions: true},
		{Name: "hooks", Group: groupShare, New: hooksCommand},
		{Name: "export", Group: groupKeep, New: exportCommand, FindsSessions: true, TakesHosts: true},
		{Name: "usage", Group: groupKeep, New: usageCommand, FindsSessions: true, TakesHosts: true},
		{Name: "du", Group: groupKeep, New: duCommand, FindsSessions: true},
		{Name: "rm", Group: groupKeep, New: func(env Env) *cli.Command { return storeCommand(env, launch.ActionRemove) }, FindsSessions: true, TakesHosts: true},
		{Name: "archive", Group: groupKeep, New: func(env Env) *cli.Command { return storeCommand(env, launch.ActionArchive) }, FindsSessions: true, TakesHosts: true},
		{Name: "unarchive", Group: groupKeep, New: func(env Env) *cli.Command { return storeCommand(env, launch.ActionUnarchive) }, FindsSessions: true, TakesHosts: true},
		{Name: "metrics", Group: groupKeep, New: metricsCommand, FindsSessions: true, TakesHosts: true},
		{Name: "host", Group: groupSetUp, New: hostCommand},
		{Name: "doctor", Group: groupSetUp, New: doctorCommand, FindsSessions: true},
		{Name: "schema", Group: groupSetUp, New: schemaCommand},
		{Name: "skill", Group: groupSetUp, New: skillCommand},
		{Name: "completion", Group: groupSetUp, New: completionCommand},
		{Name: "help", Group: groupSetUp, New: helpCommand},
		{Name: "version", Group: groupSetUp, New: versionCommand},
		{Name: "__complete", New: completeCommand},
	}
}

// Program is the name of this program.
const Program = "agentctl"

// The groups of commands.
const (
	groupSee   = "See"
	groupAct   = "Act"
	groupWait  = "Wait and follow"
	groupShare = "Share a repository"
	groupKeep  = "Keep"
	groupSetUp = "Set up"
)

func groups() []string {
	return []string{groupSee, groupAct, groupWait, groupShare, groupKeep, groupSetUp}
}

// appHelp is the template of the program's help. The library's own sorts the groups by name.
func appHelp() string {
	var b strings.Builder
	b.WriteString("{{.Name}} - {{.Usage}}\n\nUSAGE:\n   {{wrap .UsageText 3}}\n")
	for _, group := range groups() {
		fmt.Fprintf(&b, "\n%s:{{range .VisibleCommands}}{{if eq .Category %q}}\n   {{join .Names \", \"}}{{\"\\t\"}}{{.Usage}}{{end}}{{end}}\n", strings.ToUpper(group), group)
	}
	b.WriteString("\nCOMMON FLAGS (the help of a command names those that it takes):")
	for _, f := range commonFlags() {
		b.WriteString("\n   " + strings.NewReplacer("{{", `{{"{{"}}`, " (default: false)", "").Replace(f.String()))
	}
	b.WriteString("\n\n" + Program + " COMMAND --help shows the flags of a command, and " + Program + " help COMMAND its manual.\n")
	return b.String()
}

// NewApp makes the application. There are no global flags: every flag belongs to a verb.
func NewApp(env Env) *cli.App {
	app := &cli.App{
		Name:            Program,
		Usage:           "show and control the coding-agent sessions on this machine",
		UsageText:       "agentctl COMMAND [FLAGS] [ARGUMENTS]\nagentctl --version",
		Writer:          env.Stdout,
		ErrWriter:       env.Stderr,
		HideVersion:     true,
		HideHelpCommand: true,
		Flags:           []cli.Flag{cli.HelpFlag}, // the library adds it only if no command is named help
		// A directory or a prompt may contain commas.
		DisableSliceFlagSeparator: true,
		// The library's own handler would end the process.
		ExitErrHandler:        func(*cli.Context, error) {},
		CustomAppHelpTemplate: appHelp(),
	}
	for _, v := range Verbs() {
		app.Commands = append(app.Commands, v.command(env))
	}
	return app
}

// prepare sets what all commands and subcommands share.
func prepare(c *cli.Command) {
	c.HideHelpCommand = true
	if c.UsageText == "" {
		c.UsageText = strings.TrimSpace(Program + " " + CommandName(c) + " [FLAGS] " + c.ArgsUsage)
	}
	c.Description = strings.ReplaceAll(c.Description, "\n", " ")
	c.OnUsageError = func(c *cli.Context, err error, _ bool) error { return badFlag(c.Command, err) }
	if c.ArgsUsage == "" && len(c.Subcommands) == 0 && !c.SkipFlagParsing {
		run := c.Action
		c.Action = func(c *cli.Context) error {
			if _, err := Arguments(c, 0, 0, ""); err != nil {
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
		below.HelpName = Program + " " + CommandName(c) + " " + below.Name
		prepare(below)
	}
}

// Verb is the names and the constructor of a command.
type Verb struct {
	Name string
	// Group is one of [groups], under which the help lists the command; "" for one that it does not list.
	Group   string
	New     func(Env) *cli.Command
	Aliases []string
	// FindsSessions: the command finds sessions, and takes the flags of [UserFlags].
	FindsSessions bool
	// TakesHosts: the command may act on other machines, and takes the flags of [HostFlags]. All other commands refuse these flags.
	TakesHosts bool
	// LocalFlags are the flags that are refused for another machine, since they work on this one only.
	LocalFlags []string
}

func (v Verb) command(env Env) *cli.Command {
	if v.FindsSessions {
		env.Users = &UserFlags{verb: v.Name}
	}
	if env.Hosts == nil { // of an application that is not run
		env.Hosts = &HostFlags{}
	}
	c := v.New(env)
	if v.FindsSessions {
		withUsers(c, env.Users)
	}
	if v.TakesHosts {
		c.Flags = append(c.Flags, env.Hosts.flags()...)
	}
	c.Name, c.Aliases, c.Category = v.Name, v.Aliases, v.Group
	prepare(c)
	return c
}

// withUsers adds the flags of [UserFlags] to a command, or to its subcommands.
func withUsers(c *cli.Command, u *UserFlags) {
	for _, below := range c.Subcommands {
		withUsers(below, u)
	}
	if len(c.Subcommands) == 0 {
		c.Flags = append(c.Flags, u.flags()...)
	}
}
