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
		{Name: "list", Group: groupSee, New: listCommand, Aliases: []string{"ls", "ps"}, FindsSessions: true, TakesHosts: true},
		{Name: "top", Group: groupSee, New: func(f Env) *cli.Command { return topCommand(f, Run) }, FindsSessions: true, TakesHosts: true},
		{Name: "status", Group: groupSee, New: statusCommand, Aliases: []string{"show"}, FindsSessions: true, TakesHosts: true},
		{Name: "peek", Group: groupSee, New: NewPeek, FindsSessions: true, TakesHosts: true},
		{Name: "logs", Group: groupSee, New: logsCommand, FindsSessions: true, TakesHosts: true},
		{Name: "search", Group: groupSee, New: searchCommand, FindsSessions: true, TakesHosts: true},
		{Name: "current", Group: groupSee, New: currentCommand, FindsSessions: true},
		{Name: "launch", Group: groupAct, New: launchCommand, TakesHosts: true},
		{Name: "resume", Group: groupAct, New: resumeCommand, FindsSessions: true, TakesHosts: true},
		{Name: "send", Group: groupAct, New: sendCommand, FindsSessions: true, TakesHosts: true},
		{Name: "attach", Group: groupAct, New: attachCommand, FindsSessions: true, TakesHosts: true},
		{Name: "stop", Group: groupAct, New: stopCommand, FindsSessions: true, TakesHosts: true},
		{Name: "wait", Group: groupWait, New: waitCommand, FindsSessions: true, TakesHosts: true},
		{Name: "events", Group: groupWait, New: eventsCommand, FindsSessions: true, TakesHosts: true},
		{Name: "guard", Group: groupShare, New: guardCommand, FindsSessions: true},
		{Name: "lock", Group: groupShare, New: lockCommand, FindsSessions: true},
		{Name: "unlock", Group: groupShare, New: NewUnlock, FindsSessions: true},
		{Name: "locks", Group: groupShare, New: NewLocks, FindsSessions: true},
		{Name: "worktree", Group: groupShare, New: worktreeCommand, FindsSessions: true},
		{Name: "hooks", Group: groupShare, New: hooksCommand},
		{Name: "export", Group: groupKeep, New: exportCommand, FindsSessions: true, TakesHosts: true},
		{Name: "usage", Group: groupKeep, New: usageCommand, FindsSessions: true, TakesHosts: true},
		{Name: "du", Group: groupKeep, New: duCommand, FindsSessions: true},
		{Name: "rm", Group: groupKeep, New: func(f Env) *cli.Command { return storeCommand(f, launch.ActionRemove) }, FindsSessions: true, TakesHosts: true},
		{Name: "archive", Group: groupKeep, New: func(f Env) *cli.Command { return storeCommand(f, launch.ActionArchive) }, FindsSessions: true, TakesHosts: true},
		{Name: "unarchive", Group: groupKeep, New: func(f Env) *cli.Command { return storeCommand(f, launch.ActionUnarchive) }, FindsSessions: true, TakesHosts: true},
		{Name: "metrics", Group: groupKeep, New: metricsCommand, FindsSessions: true, TakesHosts: true},
		{Name: "host", Group: groupSetUp, New: hostCommand},
		{Name: "doctor", Group: groupSetUp, New: doctorCommand, FindsSessions: true},
		{Name: "schema", Group: groupSetUp, New: schemaCommand},
		{Name: "skill", Group: groupSetUp, New: skillCommand},
		{Name: "completion", Group: groupSetUp, New: completionCommand},
		{Name: "help", Group: groupSetUp, New: func(f Env) *cli.Command { return helpCommand(f, Verbs) }},
		{Name: "version", Group: groupSetUp, New: versionCommand},
		{Name: "__complete", New: func(f Env) *cli.Command { return NewComplete(f, Verbs) }},
	}
}
