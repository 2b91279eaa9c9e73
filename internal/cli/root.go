// Package cli is the command line: a file for each command, and what the commands share, from the flags to the exit code.
package cli

import (
	"context"

	"agentctl/launch"

	"github.com/urfave/cli/v2"
)

// Main runs one command line, the program's name first, and returns the exit code. It may be that of the agentctl of another machine.
func Main(args []string, f Env) int {
	run := func(ctx context.Context, f Env, args []string) int { return Run(ctx, f, args...) }
	if f.Caller != "" {
		return f.Answer(context.Background(), args[1:], run)
	}
	return run(context.Background(), f, args[1:])
}

// Run runs one command line, without the program's name, and returns the exit code.
func Run(ctx context.Context, f Env, args ...string) int {
	return runVerbs(ctx, f, Verbs(), args)
}

// Verbs are all commands, in the order of the help.
func Verbs() []Verb {
	return []Verb{
		{Name: "list", New: listCommand, Aliases: []string{"ls", "ps"}, FindsSessions: true, TakesHosts: true},
		{Name: "top", New: func(f Env) *cli.Command { return topCommand(f, Run) }, FindsSessions: true, TakesHosts: true},
		{Name: "status", New: statusCommand, Aliases: []string{"show"}, FindsSessions: true, TakesHosts: true},
		{Name: "peek", New: NewPeek, FindsSessions: true, TakesHosts: true},
		{Name: "logs", New: logsCommand, FindsSessions: true, TakesHosts: true},
		{Name: "export", New: exportCommand, FindsSessions: true, TakesHosts: true},
		{Name: "search", New: searchCommand, FindsSessions: true, TakesHosts: true},
		{Name: "launch", New: launchCommand, TakesHosts: true},
		{Name: "resume", New: resumeCommand, FindsSessions: true, TakesHosts: true},
		{Name: "send", New: sendCommand, FindsSessions: true, TakesHosts: true},
		{Name: "attach", New: attachCommand, FindsSessions: true, TakesHosts: true},
		{Name: "wait", New: waitCommand, FindsSessions: true, TakesHosts: true},
		{Name: "events", New: eventsCommand, FindsSessions: true, TakesHosts: true},
		{Name: "stop", New: stopCommand, FindsSessions: true, TakesHosts: true},
		{Name: "current", New: currentCommand, FindsSessions: true},
		{Name: "guard", New: guardCommand, FindsSessions: true},
		{Name: "lock", New: lockCommand, FindsSessions: true},
		{Name: "unlock", New: NewUnlock, FindsSessions: true},
		{Name: "locks", New: NewLocks, FindsSessions: true},
		{Name: "worktree", New: worktreeCommand, FindsSessions: true},
		{Name: "hooks", New: hooksCommand},
		{Name: "usage", New: usageCommand, FindsSessions: true, TakesHosts: true},
		{Name: "du", New: duCommand, FindsSessions: true},
		{Name: "rm", New: func(f Env) *cli.Command { return storeCommand(f, launch.ActionRemove) }, FindsSessions: true, TakesHosts: true},
		{Name: "archive", New: func(f Env) *cli.Command { return storeCommand(f, launch.ActionArchive) }, FindsSessions: true, TakesHosts: true},
		{Name: "unarchive", New: func(f Env) *cli.Command { return storeCommand(f, launch.ActionUnarchive) }, FindsSessions: true, TakesHosts: true},
		{Name: "metrics", New: metricsCommand, FindsSessions: true, TakesHosts: true},
		{Name: "host", New: hostCommand},
		{Name: "doctor", New: doctorCommand, FindsSessions: true},
		{Name: "schema", New: schemaCommand},
		{Name: "skill", New: skillCommand},
		{Name: "completion", New: completionCommand},
		{Name: "help", New: func(f Env) *cli.Command { return helpCommand(f, Verbs) }},
		{Name: "version", New: versionCommand},
		{Name: "__complete", New: func(f Env) *cli.Command { return NewComplete(f, Verbs) }},
	}
}
