package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/internal/config"
	"agentctl/internal/remote"
)

// HostFlags has the flags --host and --all-hosts. The commands of [Verb].TakesHosts take them.
type HostFlags struct {
	hosts cli.StringSlice
	all   bool
	// words is the command line as [ArrangeArgs] has put it.
	words []string
	// run runs a command line in this process.
	run func(ctx context.Context, env Env, args []string) int
	// verbs are those that take these flags.
	verbs []string
}

func (h *HostFlags) flags() []cli.Flag {
	return []cli.Flag{
		&listFlag{cli.StringSliceFlag{Name: "host", Usage: "ask the agentctl of `HOST`, by ssh; local is this machine (may be repeated, or a list with commas)", Destination: &h.hosts, Hidden: true}},
		&cli.BoolFlag{Name: "all-hosts", Usage: "ask this machine and all those of [hosts] in the configuration", Destination: &h.all, Hidden: true},
	}
}

// HostCall is what one host is asked.
type HostCall struct {
	Target remote.Target
	// Args is the command line there.
	Args []string
	// Stdin is what the command reads there.
	Stdin []byte
	// ids are the arguments that name sessions.
	ids []string
	// elsewhere: the session may be on another host that is asked.
	elsewhere bool
	// answered is set once the host has answered in full, or will not answer.
	answered *atomic.Bool
	// complete is set once the host has answered, with an answer that is complete and that the contract allows.
	complete *atomic.Bool
}

// Complete reports whether the host has answered in full, after [EachHost].
func (h HostCall) Complete() bool { return h.complete.Load() }

// OnHosts reports whether the flags or an argument name a host: then the command is for [Env.HostCalls]. ids are the arguments that may be
// H:ID.
func (env Env) OnHosts(ids ...string) bool {
	return env.Hosts != nil && (!env.Hosts.none() || slices.ContainsFunc(ids, func(arg string) bool {
		_, _, ok := remote.SplitID(arg)
		return ok
	}))
}

// HostCalls returns what each host is asked: the command line without the flags that say how to print, and the arguments. ids are those that
// name sessions, as H:ID, or as ID on the only host of --host; rest are the other ones. anyHost allows an ID that is looked for on several hosts.
func (env Env) HostCalls(c config.Config, ids, rest []string, anyHost bool) ([]HostCall, error) {
	targets, err := env.Hosts.targets(c)
	if err != nil {
		return nil, err
	}
	wanted := map[string][]string{}
	for _, arg := range ids {
		name, id, ok := remote.SplitID(arg)
		_, _, further := remote.SplitID(id)
		switch {
		case ok && further:
			return nil, NewUsageError(arg+": a host asks no other host", "use "+id)
		case ok:
			target, err := targetOf(c, name)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(targets, target) {
				targets = append(targets, target)
			}
			wanted[name] = append(wanted[name], id)
		case env.Hosts.none():
			wanted[remote.Local] = append(wanted[remote.Local], arg)
			if local := (remote.Target{Name: remote.Local}); !slices.Contains(targets, local) {
				targets = append(targets, local)
			}
		case len(targets) == 1 || anyHost:
			for _, t := range targets {
				wanted[t.Name] = append(wanted[t.Name], arg)
			}
		default:
			return nil, NewUsageError("which host has "+arg+"?", "name it in the ID, as in "+targets[0].Name+":"+arg)
		}
	}
	var calls []HostCall
	for _, t := range targets {
		if len(ids) > 0 && len(wanted[t.Name]) == 0 {
			continue // an H:ID names another one
		}
		args := slices.Concat(env.Hosts.command(), []string{"--"}, wanted[t.Name], rest)
		calls = append(calls, HostCall{Target: t, Args: args, ids: wanted[t.Name], elsewhere: anyHost && len(targets) > 1, answered: new(atomic.Bool), complete: new(atomic.Bool)})
	}
	return calls, nil
}

// terminalCall returns the call of a command that takes the terminal; nil for a session of this machine, which the returned argument means.
func (c *Call) terminalCall(arg string) (*HostCall, string, error) {
	calls, err := c.Calls([]string{arg}, nil, false)
	switch {
	case err != nil || calls == nil:
		return nil, arg, err
	case calls[0].Target.IsLocal():
		return nil, calls[0].ID(), nil
	}
	return &calls[0], arg, nil
}

// ID is the first argument of the call.
func (h HostCall) ID() string { return h.Args[slices.Index(h.Args, "--")+1] }

// none reports whether no flag names a host.
func (h *HostFlags) none() bool { return !h.all && len(h.hosts.Value()) == 0 }

// targets returns the hosts of the flags, each once.
func (h *HostFlags) targets(c config.Config) (list []remote.Target, err error) {
	var names []string
	for _, value := range h.hosts.Value() {
		names = append(names, strings.Split(value, ",")...)
	}
	if h.all {
		if len(c.Hosts) == 0 {
			return nil, NewUsageError("--all-hosts: the configuration has no [hosts]", "docs/cli.md has an example; --host H asks one host")
		}
		names = append(names, remote.Local)
		names = append(names, slices.Sorted(maps.Keys(c.Hosts))...)
	}
	for _, name := range names {
		t, err := targetOf(c, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list, nil
}

// targetOf returns the host that a name means: one of the configuration, or else a destination for ssh.
func targetOf(c config.Config, name string) (remote.Target, error) {
	if err := remote.CheckName(name); err != nil {
		return remote.Target{}, NewUsageError("--host: "+err.Error(), "agentctl host check HOST says what is there")
	}
	t := remote.Target{Name: name, Destination: name, ConnectTimeout: time.Duration(c.ConnectTimeout)}
	if destination, ok := c.Hosts[name]; ok {
		t.Destination = destination
	}
	if t.IsLocal() {
		t = remote.Target{Name: remote.Local}
	}
	return t, nil
}

// Target returns the other host of a name in the command line.
func (env Env) Target(c config.Config, name string) (remote.Target, error) {
	t, err := targetOf(c, name)
	if err == nil && t.IsLocal() {
		err = NewUsageError("local is this machine", "name another host")
	}
	return t, err
}

// command is the command line for a host, without its arguments, and without the flags for this machine: which hosts to ask, how to print
// their objects, and what to run for each.
func (h *HostFlags) command() []string {
	return append(removeFlags(h.words,
		"host", "all-hosts", "json", "format", "quiet", "q", "ids", "l", "count", "c", "no-color", "no-trunc", "no-pager", "exec", "webhook", "secret-env",
	), "--json")
}

// removeFlags returns the verb and the flags of a command line except those named.
func removeFlags(words []string, names ...string) []string {
	var out []string
	for _, word := range words {
		if word == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !strings.HasPrefix(word, "-") || !slices.Contains(names, name) {
			out = append(out, word)
		}
	}
	return out
}

// WithoutFlags returns the call without these flags.
func (h HostCall) WithoutFlags(names ...string) HostCall {
	i := slices.Index(h.Args, "--")
	h.Args = slices.Concat(removeFlags(h.Args[:i], names...), h.Args[i:])
	return h
}

// WithFlags returns the call with these flags too.
func (h HostCall) WithFlags(flags ...string) HostCall {
	i := slices.Index(h.Args, "--")
	h.Args = slices.Concat(h.Args[:i], flags, h.Args[i:])
	return h
}

// AskingHosts returns a function that describes the work in the progress line, with the hosts that have not answered.
func AskingHosts(what string, calls []HostCall) func() string {
	return func() string { return what + " " + unanswered(calls) }
}

// unanswered names the hosts that have not answered in full.
func unanswered(calls []HostCall) string {
	const shown = 5
	var names []string
	for _, call := range calls {
		if call.answered == nil || !call.answered.Load() {
			names = append(names, call.Target.Name)
		}
	}
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}
