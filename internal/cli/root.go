package cli

import (
	"context"

	"github.com/urfave/cli/v2"
)

// Main runs one command line, the program's name first, and returns the exit code.
func Main(args []string, env Env) int { return Run(context.Background(), env, args[1:]...) }

// Run runs one command line, without the program's name, and returns the exit code.
func Run(ctx context.Context, env Env, args ...string) int { return runApp(ctx, env, verbs(), args) }

// verbs are all commands, in the order of the help.
func verbs() []verb {
	return []verb{
		{"list", newList, []string{"ls", "ps"}, true},
		{"status", newStatus, []string{"show"}, true},
		{"peek", newPeek, nil, true},
		{"logs", newLogs, nil, true},
		{"launch", newLaunch, nil, false},
		{"resume", newResume, nil, true},
		{"wait", newWait, nil, true},
		{"events", newEvents, nil, true},
		{"stop", newStop, nil, true},
		{"current", newCurrent, nil, true},
		{"guard", newGuard, nil, true},
		{"lock", newLock, nil, true},
		{"unlock", newUnlock, nil, true},
		{"locks", newLocks, nil, true},
		{"worktree", newWorktree, nil, true},
		{"hooks", newHooks, nil, false},
		{"metrics", newMetrics, nil, true},
		{"doctor", newDoctor, nil, true},
		{"schema", newSchema, nil, false},
		{"completion", newCompletion, nil, false},
		{"version", newVersion, nil, false},
		{"__complete", func(env Env) *cli.Command { return newComplete(env, verbs) }, nil, false},
	}
}
