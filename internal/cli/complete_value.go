package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/launch"
)

// valueOffers are the values that a flag takes, of which this much is typed; prefix stands before the value in the same word.
func (env Env) valueOffers(ctx context.Context, verb *cli.Command, flag, prefix, typed string) []offer {
	switch flag {
	case "adapter":
		if verb.Name == "launch" { // each is a launch of its own: there is no list of several
			return offersOf(prefix, env.agentNames()...)
		}
		return listOffers(prefix, typed, env.agentNames())
	case "status":
		return listOffers(prefix, typed, statuses())
	case "type":
		return listOffers(prefix, typed, eventTypes())
	case "until":
		return offersOf(prefix, untils()...)
	case "permissions":
		return offersOf(prefix, string(launch.PermissionsOwn), string(launch.PermissionsEdit), string(launch.PermissionsFull))
	case "since":
		return offersOf(prefix, "1h", "1d", "7d", "30d", "all")
	case "group":
		return offersOf(prefix, env.groups(ctx)...)
	}
	return nil
}

// listOffers complete the last word of a list with commas by those words that are not in it yet.
func listOffers(prefix, typed string, words []string) []offer {
	i := strings.LastIndexByte(typed, ',') + 1
	have := strings.Split(typed[:i], ",")
	left := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(have, w) })
	return offersOf(prefix+typed[:i], left...)
}

// groups are the launch groups of sessions and of the worktrees of the repository that we are in, the newest first.
func (env Env) groups(ctx context.Context) []string {
	var out []string
	add := func(group string) {
		if group != "" && !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	for _, s := range env.offeredSessions(ctx, discover.SessionFilter{IncludeStopped: true}) {
		add(s.Group)
	}
	if repo, err := env.repository(ctx, "worktree clean", "."); err == nil {
		list, _ := repo.List(ctx) // of a repository that cannot be read there are none
		for _, w := range list {
			add(discover.GroupOfWorktree(w.Branch, w.Path))
		}
	}
	return out
}
