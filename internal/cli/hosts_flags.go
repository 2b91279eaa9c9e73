package cli

import (
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
	// Flags are the command there and its flags, Arguments what follows a --.
	Flags, Arguments []string
	// Stdin is what the command reads there.
	Stdin []byte
	// ids are the arguments that name sessions.
	ids []string
	// elsewhere: the session may be on another host that is asked.
	elsewhere bool
	// ssh is the user's; unset for this machine.
	ssh remote.SSH
	// answered is set once the host has answered in full, or will not answer; complete if its answer is one that the contract allows.
	answered, complete *atomic.Bool
}

// newHostCall makes a call without arguments. It fails if there is no ssh for it.
func (env Env) newHostCall(t remote.Target, flags ...string) (call HostCall, err error) {
	call = HostCall{Target: t, Flags: flags, answered: new(atomic.Bool), complete: new(atomic.Bool)}
	if !t.IsLocal() {
		call.ssh, err = env.SSH(t)
	}
	return call, err
}

// OnHosts reports whether the flags or an argument name a host: then the command is for [Call.HostCalls]. ids are the arguments that may be
// H:ID.
func (env Env) OnHosts(ids ...string) bool {
	return env.Hosts != nil && (!env.Hosts.none() || slices.ContainsFunc(ids, func(arg string) bool {
		_, _, ok := remote.SplitID(arg)
		return ok
	}))
}

// HostCalls returns what each host is asked: the command line without the flags that say how to print, and the arguments; nil for this machine alone. ids
// are those that name sessions, as H:ID, or as ID on the only host of --host; rest are the other ones. anyHost allows an ID that is looked for on several
// hosts.
func (c *Call) HostCalls(ids, rest []string, anyHost bool) ([]HostCall, error) {
	if !c.OnHosts(ids...) {
		return nil, nil
	}
	targets, err := c.Hosts.targets(c.Config)
	if err != nil {
		return nil, err
	}
	flags := removeFlags(c.Hosts.words)
	for _, name := range verbNamed(flags[0]).LocalFlags {
		if len(removeFlags(flags, name)) < len(flags) {
			return nil, NewUsageError(FlagText(name)+" is for this machine only", "ssh to the host, and run it there")
		}
	}
	wanted := map[string][]string{}
	for _, arg := range ids {
		name, id, ok := remote.SplitID(arg)
		if !ok && c.Hosts.none() {
			name, id, ok = remote.Local, arg, true
		}
		_, _, further := remote.SplitID(id)
		switch {
		case ok && further:
			return nil, NewUsageError(arg+": a host asks no other host", "use "+id)
		case ok:
			target, err := targetOf(c.Config, name)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(targets, target) {
				targets = append(targets, target)
			}
			wanted[name] = append(wanted[name], id)
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
		call, err := c.newHostCall(t, c.Hosts.command()...)
		if err != nil {
			return nil, err
		}
		call.ids, call.elsewhere = wanted[t.Name], anyHost && len(targets) > 1
		call.Arguments = slices.Concat(wanted[t.Name], rest)
		calls = append(calls, call)
	}
	return calls, nil
}

// args is the command line of the call.
func (h HostCall) args() []string {
	if h.Arguments == nil {
		return h.Flags
	}
	return slices.Concat(h.Flags, []string{"--"}, h.Arguments)
}

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
		"host", "all-hosts", "json", "format", "quiet", "ids", "count", "no-color", "no-trunc", "no-pager", "exec", "webhook", "secret-env",
	), "--json")
}

// verbNamed returns the command of that name; the zero value if there is none.
func verbNamed(name string) Verb {
	for _, v := range Verbs() {
		if v.Name == name {
			return v
		}
	}
	return Verb{}
}

// removeFlags returns the verb and the flags of a command line except those named.
func removeFlags(words []string, names ...string) []string {
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		return strings.HasPrefix(word, "-") && slices.Contains(names, name)
	})
}

// WithoutFlags returns the call without these flags.
func (h HostCall) WithoutFlags(names ...string) HostCall {
	h.Flags = removeFlags(h.Flags, names...)
	return h
}

// WithFlags returns the call with these flags too.
func (h HostCall) WithFlags(flags ...string) HostCall {
	h.Flags = slices.Concat(h.Flags, flags)
	return h
}

// unanswered names the hosts that have not answered in full.
func unanswered(calls []HostCall) string {
	const shown = 5
	var names []string
	for _, call := range calls {
		if !call.answered.Load() {
			names = append(names, call.Target.Name)
		}
	}
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}
