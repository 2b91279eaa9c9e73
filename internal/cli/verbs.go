package cli

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// verb is a command by its names, and how it is made.
type verb struct {
	name    string
	make    func(Env) *cli.Command
	aliases []string
}

// verbs are all commands, in the order of the help.
func verbs() []verb {
	return []verb{
		{"list", newList, []string{"ls", "ps"}},
		{"status", newStatus, []string{"show"}},
		{"peek", newPeek, nil},
		{"logs", newLogs, nil},
		{"launch", newLaunch, nil},
		{"resume", newResume, nil},
		{"wait", newWait, nil},
		{"events", newEvents, nil},
		{"stop", newStop, nil},
		{"current", newCurrent, nil},
		{"guard", newGuard, nil},
		{"lock", newLock, nil},
		{"unlock", newUnlock, nil},
		{"locks", newLocks, nil},
		{"worktree", newWorktree, nil},
		{"hooks", newHooks, nil},
		{"metrics", newMetrics, nil},
		{"doctor", newDoctor, nil},
		{"schema", newSchema, nil},
		{"completion", newCompletion, nil},
		{"version", newVersion, nil},
		{"__complete", newComplete, nil},
	}
}

// called are the verbs that a command line, its verb first, is about: the one that it names, or all. To make them all, with
// their flags, would cost each call a twentieth of its start, and to have the library go through these more.
func called(args []string) []verb {
	all := verbs()
	for i, v := range all {
		if len(args) > 0 && (v.name == args[0] || slices.Contains(v.aliases, args[0])) {
			return all[i : i+1]
		}
	}
	return all
}

// command makes it.
func (v verb) command(env Env) *cli.Command {
	c := v.make(env)
	c.Name, c.Aliases = v.name, v.aliases
	prepare(c)
	return c
}
