package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/remote"
	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/lock/githooks"
)

// completer completes command lines.
type completer struct {
	ctx context.Context
	f   Env
}

// candidate is a word that could complete the command line, with its description.
type candidate struct{ text, description string }

// candidates returns the words that could replace the last word.
func (c completer) candidates(words []string) []candidate {
	verb := &cli.Command{Subcommands: NewApp(c.f).Commands}
	help := words[0] == "help" && len(words) > 1 && !strings.HasPrefix(words[len(words)-1], "-")
	if help {
		words = slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
	}
	for {
		if len(words) == 1 {
			return commandCandidates(verb.Subcommands)
		}
		if verb = verb.Command(words[0]); verb == nil || verb.Hidden {
			return nil
		}
		if len(verb.Subcommands) == 0 {
			break
		}
		words = words[1:]
	}
	if help || slices.Contains(words[:len(words)-1], "--") {
		return nil
	}
	if name, prefix, ok := pendingFlag(verb, words); ok {
		return c.values(verb, name, prefix, strings.TrimPrefix(words[len(words)-1], prefix))
	}
	if strings.HasPrefix(words[len(words)-1], "-") {
		return flagCandidates(verb)
	}
	// No shell's quotes keep an argument that begins with a dash from being read as a flag.
	return slices.DeleteFunc(c.arguments(verb, words), func(o candidate) bool { return strings.HasPrefix(o.text, "-") })
}

// arguments returns the words that could be the argument that is typed last.
func (c completer) arguments(verb *cli.Command, words []string) []candidate {
	first := argumentsBefore(verb, words) == 0
	switch {
	case verb.Name == "completion":
		return candidatesOf("", shells()...)
	case verb.Name == "schema":
		return candidatesOf("", "config")
	case strings.HasPrefix(verb.ArgsUsage, "HOOK ") && first:
		return candidatesOf("", githooks.Names()...)
	case verb.ArgsUsage == "WORKTREE…":
		return c.worktrees()
	case verb.Name == "launch" && first:
		return candidatesOf("", c.f.AgentNames()...)
	case verb.Name == "resume" && first, verb.Name == "rm", verb.Name == "archive", verb.Name == "unarchive":
		return c.sessions(verb, words, discover.SessionFilter{IncludeStopped: true, Statuses: []discover.Status{discover.Stopped}})
	case verb.ArgsUsage == "ID" && verb.Name != "attach", verb.Name == "export":
		return c.sessions(verb, words, discover.SessionFilter{IncludeStopped: true})
	case verb.Name == "answer" && first:
		return c.sessions(verb, words, discover.SessionFilter{Statuses: []discover.Status{discover.Waiting}})
	case verb.Name == "answer":
		return candidatesOf("", string(launch.ReplyYes), string(launch.ReplyNo), string(launch.ReplyAlways))
	case verb.ArgsUsage == "ID…", verb.Name == "attach", verb.Name == "send" && first: // what is done to live sessions
		return c.sessions(verb, words, discover.SessionFilter{})
	}
	return nil
}

// argumentsBefore counts the words between the verb and the last one that are neither flags nor the values of flags.
func argumentsBefore(verb *cli.Command, words []string) (n int) {
	for i := 1; i < len(words)-1; i++ {
		_, _, value := pendingFlag(verb, words[:i+1])
		if !value && !strings.HasPrefix(words[i], "-") {
			n++
		}
	}
	return n
}

func commandCandidates(commands []*cli.Command) []candidate {
	var out []candidate
	for _, c := range commands {
		if !c.Hidden {
			out = append(out, candidate{c.Name, c.Usage})
		}
	}
	return out
}

func flagCandidates(verb *cli.Command) []candidate {
	var out []candidate
	for _, f := range verb.Flags {
		if d, ok := f.(cli.DocGenerationFlag); ok {
			out = append(out, candidate{FlagText(f.Names()[0]), strings.ReplaceAll(d.GetUsage(), "`", "")})
		}
	}
	return append(out, candidate{"--help", "show help"})
}

// pendingFlag finds the flag whose value is being typed: --flag VALUE or --flag=VALUE. prefix is what precedes the
// value in the same word.
func pendingFlag(verb *cli.Command, words []string) (name, prefix string, ok bool) {
	last, before := words[len(words)-1], words[len(words)-2]
	if flag, _, joined := strings.Cut(last, "="); joined && takesValue(verb, flag) {
		return strings.TrimLeft(flag, "-"), flag + "=", true
	}
	return strings.TrimLeft(before, "-"), "", takesValue(verb, before)
}

func takesValue(verb *cli.Command, word string) bool {
	f := FlagOf(verb, strings.TrimLeft(word, "-"))
	return strings.HasPrefix(word, "-") && f != nil && f.TakesValue()
}

func candidatesOf(prefix string, words ...string) []candidate {
	return convert(words, func(w string) candidate { return candidate{prefix + w, ""} })
}

// maxSessions bounds the sessions that are offered, the newest.
const maxSessions = 200

// sessions returns those of a filter, in the order of `list`: those of this machine, or of the host that the words name.
func (c completer) sessions(verb *cli.Command, words []string, filter discover.SessionFilter) []candidate {
	if t, prefix, ok := c.hostOf(verb, words); ok {
		return c.hostSessions(t, prefix, filter)
	}
	filter.Limit = maxSessions
	sessions := SessionObjects(c.recent(filter))
	var out []candidate
	for i, name := range ArgumentsFor(sessions) {
		if name != "" {
			out = append(out, sessionCandidate(name, &sessions[i]))
		}
	}
	return out
}

func sessionCandidate(name string, s *object.Session) candidate {
	return candidate{name, fmt.Sprintf("%s %s: %s", s.Adapter, s.Status, cmp.Or(s.Title, s.Prompt, s.CWD))}
}

// recent returns the sessions of a filter since the time of the configuration; none if they cannot be read.
func (c completer) recent(filter discover.SessionFilter) []discover.Session {
	call, err := c.f.NewCall("__complete", &CommonFlags{}, nil)
	if err == nil {
		filter.Since, err = call.SinceTime("__complete", "")
	}
	if err != nil {
		return nil
	}
	r, _ := call.Scanner.List(c.ctx, filter)
	return r.Sessions
}

// values returns the values of a flag, of which typed is entered; prefix precedes the value in the same word.
func (c completer) values(verb *cli.Command, flag, prefix, typed string) []candidate {
	switch {
	case flag == "from":
		list := c.sessions(verb, []string{typed}, discover.SessionFilter{IncludeStopped: true})
		for i := range list {
			list[i].text = prefix + list[i].text
		}
		return list
	case flag == "group":
		return candidatesOf(prefix, c.groups()...)
	case flag == "host":
		if settings, _, err := c.f.Settings(false); err == nil {
			return listCandidates(prefix, typed, append([]string{remote.Local}, slices.Sorted(maps.Keys(settings.Hosts))...))
		}
	case flag == "adapter" && verb.Name == "launch": // each is a launch of its own: there is no list of several
		return candidatesOf(prefix, c.f.AgentNames()...)
	case flag == "by":
		flag = verb.Name
	}
	lists := map[string][]string{"adapter": c.f.AgentNames(), "status": statusWords(), "type": object.EventTypes()}
	if words := lists[flag]; words != nil {
		return listCandidates(prefix, typed, words)
	}
	return candidatesOf(prefix, map[string][]string{
		"until": States(), "role": Roles(), "as": ExportFormats(), "tools": ExportTools(),
		"usage": UsageGroups(), "du": DiskGroups(), "since": {"1h", "1d", "7d", "30d", "all"},
		"permissions": {string(launch.PermissionsOwn), string(launch.PermissionsEdit), string(launch.PermissionsFull)},
	}[flag]...)
}

// listCandidates completes the last word of a comma-separated list with the words that are not in it yet.
func listCandidates(prefix, typed string, words []string) []candidate {
	i := strings.LastIndexByte(typed, ',') + 1
	have := strings.Split(typed[:i], ",")
	left := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(have, w) })
	return candidatesOf(prefix+typed[:i], left...)
}

// groups returns the launch groups of sessions, and of the worktrees of the current repository, the newest first.
func (c completer) groups() []string {
	var out []string
	add := func(group string) {
		if group != "" && !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	for _, s := range c.recent(discover.SessionFilter{IncludeStopped: true}) {
		add(s.Group)
	}
	for _, w := range c.repositoryWorktrees() {
		add(discover.GroupOfWorktree(w.Branch, w.Path))
	}
	return out
}

// repositoryWorktrees returns the worktrees of the current repository; none if it cannot be read.
func (c completer) repositoryWorktrees() []worktree.Worktree {
	repo, err := c.f.OpenRepository(c.ctx, "worktree clean", ".")
	if err != nil {
		return nil
	}
	list, _ := repo.List(c.ctx)
	return list
}

// worktrees returns the linked worktrees of the current repository, by branch, else by path.
func (c completer) worktrees() (out []candidate) {
	for _, w := range c.repositoryWorktrees() {
		switch {
		case w.Main:
		case w.Branch == "" || strings.HasPrefix(w.Branch, "-"): // which would be read as a flag
			out = append(out, candidate{w.Path, cmp.Or(w.Branch, "detached")})
		default:
			out = append(out, candidate{w.Branch, w.Path})
		}
	}
	return out
}

// hostTime bounds how long a host may take to answer: the user has pressed Tab and waits.
const hostTime = 5 * time.Second

// hostOf returns the host whose sessions complete the typed ID, and what precedes the ID: that of H:ID, or the only one of --host. ok is false
// if it is this machine.
func (c completer) hostOf(verb *cli.Command, words []string) (t remote.Target, prefix string, ok bool) {
	if FlagOf(verb, "host") == nil {
		return t, "", false
	}
	name, _, named := strings.Cut(words[len(words)-1], ":")
	if prefix = name + ":"; !named {
		name, prefix = flagValue(verb, words, "host"), ""
	}
	settings, _, err := c.f.Settings(false)
	if err != nil || remote.CheckName(name) != nil {
		return t, "", false
	}
	t, err = c.f.Target(settings, name)
	return t, prefix, err == nil
}

// flagValue returns the last value of a flag before the last word; "" if there is none.
func flagValue(verb *cli.Command, words []string, flag string) (value string) {
	for i := 1; i < len(words)-1; i++ {
		if name, prefix, ok := pendingFlag(verb, words[:i+1]); ok && name == flag {
			value = strings.TrimPrefix(words[i], prefix)
		}
	}
	return value
}

// hostSessions returns the sessions of a filter on a host, in the order of `list` there; none if it does not answer in time.
func (c completer) hostSessions(t remote.Target, prefix string, filter discover.SessionFilter) []candidate {
	ctx, cancel := context.WithTimeout(c.ctx, hostTime)
	defer cancel()
	t.ConnectTimeout = min(t.ConnectTimeout, hostTime)
	args := []string{"list", "--json", "-n", strconv.Itoa(maxSessions)}
	if filter.IncludeStopped {
		args = append(args, "--all")
	}
	for _, status := range filter.Statuses {
		args = append(args, "--status", string(status))
	}
	call, err := c.f.newHostCall(t, args...)
	if err != nil {
		return nil
	}
	var out []candidate
	_ = EachHost(ctx, c.f.WithReports(func(string) {}), []HostCall{call}, func(s object.Session) error {
		if s.ID != nil {
			out = append(out, sessionCandidate(prefix+*s.ID, &s))
		}
		return nil
	})
	return out
}
