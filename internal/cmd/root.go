// Package cmd is the command line: it lists the commands, each a package below.
package cmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmd/attach"
	"agentctl/internal/cmd/completion"
	"agentctl/internal/cmd/current"
	"agentctl/internal/cmd/doctor"
	"agentctl/internal/cmd/du"
	"agentctl/internal/cmd/events"
	"agentctl/internal/cmd/export"
	"agentctl/internal/cmd/guard"
	"agentctl/internal/cmd/help"
	"agentctl/internal/cmd/hooks"
	"agentctl/internal/cmd/host"
	"agentctl/internal/cmd/launch"
	"agentctl/internal/cmd/list"
	"agentctl/internal/cmd/lock"
	"agentctl/internal/cmd/logs"
	"agentctl/internal/cmd/metrics"
	"agentctl/internal/cmd/resume"
	"agentctl/internal/cmd/rm"
	"agentctl/internal/cmd/schema"
	"agentctl/internal/cmd/search"
	"agentctl/internal/cmd/send"
	"agentctl/internal/cmd/skill"
	"agentctl/internal/cmd/status"
	"agentctl/internal/cmd/stop"
	"agentctl/internal/cmd/top"
	"agentctl/internal/cmd/usage"
	"agentctl/internal/cmd/version"
	"agentctl/internal/cmd/wait"
	"agentctl/internal/cmd/worktree"
	"agentctl/internal/cmdutil"
)

// Main runs one command line, the program's name first, and returns the exit code. It may be that of the agentctl of another machine.
func Main(args []string, f cmdutil.Factory) int {
	run := func(ctx context.Context, f cmdutil.Factory, args []string) int { return Run(ctx, f, args...) }
	if f.Caller != "" {
		return f.Answer(context.Background(), args[1:], run)
	}
	return run(context.Background(), f, args[1:])
}

// Run runs one command line, without the program's name, and returns the exit code.
func Run(ctx context.Context, f cmdutil.Factory, args ...string) int {
	return cmdutil.Run(ctx, f, Verbs(), args)
}

// Verbs are all commands, in the order of the help.
func Verbs() []cmdutil.Verb {
	return []cmdutil.Verb{
		{Name: "list", New: list.New, Aliases: []string{"ls", "ps"}, FindsSessions: true, TakesHosts: true},
		{Name: "top", New: func(f cmdutil.Factory) *cli.Command { return top.New(f, Run) }, FindsSessions: true, TakesHosts: true},
		{Name: "status", New: status.New, Aliases: []string{"show"}, FindsSessions: true, TakesHosts: true},
		{Name: "peek", New: logs.NewPeek, FindsSessions: true, TakesHosts: true},
		{Name: "logs", New: logs.New, FindsSessions: true, TakesHosts: true},
		{Name: "export", New: export.New, FindsSessions: true, TakesHosts: true},
		{Name: "search", New: search.New, FindsSessions: true, TakesHosts: true},
		{Name: "launch", New: launch.New, TakesHosts: true},
		{Name: "resume", New: resume.New, FindsSessions: true, TakesHosts: true},
		{Name: "send", New: send.New, FindsSessions: true, TakesHosts: true},
		{Name: "attach", New: attach.New, FindsSessions: true, TakesHosts: true},
		{Name: "wait", New: wait.New, FindsSessions: true, TakesHosts: true},
		{Name: "events", New: events.New, FindsSessions: true, TakesHosts: true},
		{Name: "stop", New: stop.New, FindsSessions: true, TakesHosts: true},
		{Name: "current", New: current.New, FindsSessions: true},
		{Name: "guard", New: guard.New, FindsSessions: true},
		{Name: "lock", New: lock.New, FindsSessions: true},
		{Name: "unlock", New: lock.NewUnlock, FindsSessions: true},
		{Name: "locks", New: lock.NewLocks, FindsSessions: true},
		{Name: "worktree", New: worktree.New, FindsSessions: true},
		{Name: "hooks", New: hooks.New},
		{Name: "usage", New: usage.New, FindsSessions: true, TakesHosts: true},
		{Name: "du", New: du.New, FindsSessions: true},
		{Name: "rm", New: rm.New, FindsSessions: true, TakesHosts: true},
		{Name: "archive", New: rm.NewArchive, FindsSessions: true, TakesHosts: true},
		{Name: "unarchive", New: rm.NewUnarchive, FindsSessions: true, TakesHosts: true},
		{Name: "metrics", New: metrics.New, FindsSessions: true, TakesHosts: true},
		{Name: "host", New: host.New},
		{Name: "doctor", New: doctor.New, FindsSessions: true},
		{Name: "schema", New: schema.New},
		{Name: "skill", New: skill.New},
		{Name: "completion", New: completion.New},
		{Name: "help", New: func(f cmdutil.Factory) *cli.Command { return help.New(f, Verbs) }},
		{Name: "version", New: version.New},
		{Name: "__complete", New: func(f cmdutil.Factory) *cli.Command { return completion.NewComplete(f, Verbs) }},
	}
}
