package completion

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/cmdutil/await"
	"agentctl/internal/host"
	"agentctl/internal/output"
	"agentctl/launch"
)

// maxSessions bounds the sessions that are offered, the newest.
const maxSessions = 200

// idCandidates returns the sessions of a filter, in the order of `list`: those of this machine, or of the host that the words name.
func idCandidates(ctx context.Context, f cmdutil.Factory, verb *cli.Command, words []string, filter discover.SessionFilter) []candidate {
	if t, prefix, ok := hostOf(f, verb, words, words[len(words)-1]); ok {
		return hostCandidates(ctx, f, t, prefix, filter)
	}
	filter.Limit = maxSessions
	sessions := cmdutil.SessionObjects(recentSessions(ctx, f, filter))
	var out []candidate
	for i, name := range cmdutil.ArgumentsFor(sessions) {
		if name != "" {
			out = append(out, sessionCandidate(name, &sessions[i]))
		}
	}
	return out
}

func sessionCandidate(name string, s *output.Session) candidate {
	return candidate{name, fmt.Sprintf("%s %s: %s", s.Adapter, s.Status, cmp.Or(s.Title, s.Prompt, s.CWD))}
}

// recentSessions returns the sessions of a filter since the time of the configuration; none if they cannot be read.
func recentSessions(ctx context.Context, f cmdutil.Factory, filter discover.SessionFilter) []discover.Session {
	c, err := f.NewCall("__complete", &cmdutil.CommonFlags{}, nil)
	if err == nil {
		filter.Since, err = c.SinceTime("__complete", "")
	}
	if err != nil {
		return nil
	}
	r, _ := c.Scanner.List(ctx, filter)
	return r.Sessions
}

// valueCandidates returns the values of a flag, of which typed is entered; prefix precedes the value in the same word.
func valueCandidates(ctx context.Context, f cmdutil.Factory, verb *cli.Command, flag, prefix, typed string) []candidate {
	switch flag {
	case "adapter":
		if verb.Name == "launch" { // each is a launch of its own: there is no list of several
			return candidatesOf(prefix, f.AgentNames()...)
		}
		return listCandidates(prefix, typed, f.AgentNames())
	case "status":
		return listCandidates(prefix, typed, cmdutil.Statuses())
	case "type":
		return listCandidates(prefix, typed, output.EventTypes())
	case "until":
		return candidatesOf(prefix, await.States()...)
	case "host":
		return listCandidates(prefix, typed, hostNames(f))
	case "role":
		return candidatesOf(prefix, cmdutil.Roles()...)
	case "from":
		list := idCandidates(ctx, f, verb, []string{typed}, discover.SessionFilter{IncludeStopped: true})
		for i := range list {
			list[i].text = prefix + list[i].text
		}
		return list
	case "as":
		return candidatesOf(prefix, cmdutil.ExportFormats()...)
	case "tools":
		return candidatesOf(prefix, cmdutil.ExportTools()...)
	case "by":
		switch verb.Name {
		case "usage":
			return candidatesOf(prefix, cmdutil.UsageGroups()...)
		case "du":
			return candidatesOf(prefix, cmdutil.DiskGroups()...)
		}
	case "permissions":
		return candidatesOf(prefix, string(launch.PermissionsOwn), string(launch.PermissionsEdit), string(launch.PermissionsFull))
	case "since":
		return candidatesOf(prefix, "1h", "1d", "7d", "30d", "all")
	case "group":
		return candidatesOf(prefix, groups(ctx, f)...)
	}
	return nil
}

// hostNames returns this machine and the hosts of the configuration.
func hostNames(f cmdutil.Factory) []string {
	c, _, err := f.Settings(false)
	if err != nil {
		return nil
	}
	return append([]string{host.Local}, slices.Sorted(maps.Keys(c.Hosts))...)
}

// listCandidates completes the last word of a comma-separated list with the words that are not in it yet.
func listCandidates(prefix, typed string, words []string) []candidate {
	i := strings.LastIndexByte(typed, ',') + 1
	have := strings.Split(typed[:i], ",")
	left := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(have, w) })
	return candidatesOf(prefix+typed[:i], left...)
}

// groups returns the launch groups of sessions, and of the worktrees of the current repository, the newest first.
func groups(ctx context.Context, f cmdutil.Factory) []string {
	var out []string
	add := func(group string) {
		if group != "" && !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	for _, s := range recentSessions(ctx, f, discover.SessionFilter{IncludeStopped: true}) {
		add(s.Group)
	}
	if repo, err := f.OpenRepository(ctx, "worktree clean", "."); err == nil {
		list, _ := repo.List(ctx) // of a repository that cannot be read there are none
		for _, w := range list {
			add(discover.GroupOfWorktree(w.Branch, w.Path))
		}
	}
	return out
}

// worktreeCandidates returns the linked worktrees of the current repository, by branch, else by path.
func worktreeCandidates(ctx context.Context, f cmdutil.Factory) []candidate {
	repo, err := f.OpenRepository(ctx, "worktree clean", ".")
	if err != nil {
		return nil
	}
	list, err := repo.List(ctx)
	if err != nil {
		return nil
	}
	var out []candidate
	for _, w := range list {
		switch {
		case w.Main:
		case w.Branch == "":
			out = append(out, candidate{w.Path, "detached"})
		case strings.HasPrefix(w.Branch, "-"): // it would be read as a flag
			out = append(out, candidate{w.Path, w.Branch})
		default:
			out = append(out, candidate{w.Branch, w.Path})
		}
	}
	return out
}
