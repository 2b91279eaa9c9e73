package sampleagent

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"syscall"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// Spec implements [launch.Agent]: the agent takes the ID of a new session on its command line, and its prompt on stdin.
func (Adapter) Spec(r launch.Request, host launch.Host) (launch.Spec, error) {
	program, err := host.LookPath(string(Name))
	if err != nil {
		return launch.Spec{}, err
	}
	if r.Interactive || r.Fork || r.Model != "" || r.Name != "" || r.Permissions != launch.Own {
		return launch.Spec{}, &launch.UnsupportedError{Agent: Name, What: "takes a prompt only"}
	}
	spec := launch.Spec{Dir: r.Dir, Stdin: r.Prompt}
	if r.Resume != nil {
		spec.ID, spec.Resumed = r.Resume.ID, true
	} else {
		spec.ID = strings.ToLower(rand.Text())
	}
	spec.Args = slices.Concat([]string{program, "--session", spec.ID}, r.Args)
	return spec, nil
}

// Said implements [launch.Agent]: an error is the last line on stderr.
func (Adapter) Said(o launch.Output) launch.Said {
	lines := strings.Split(strings.TrimSpace(string(o.Stderr)), "\n")
	return launch.Said{Error: lines[len(lines)-1]}
}

// Markers implements [launch.Agent].
func (Adapter) Markers() []string { return []string{EnvSession} }

// Gentle implements [launch.Stopper]: the agent removes its pid file and ends.
func (Adapter) Gentle() []syscall.Signal { return []syscall.Signal{syscall.SIGTERM} }

// Asks implements [launch.Stopper]: a signal is always right.
func (Adapter) Asks(discover.Session) bool { return false }

// End implements [launch.Stopper]: there is no other way.
func (Adapter) End(context.Context, discover.Session, launch.Host) (bool, error) { return false, nil }

// Marked implements [launch.Stopper].
func (Adapter) Marked(p proc.Process, s discover.Session) bool {
	env, err := p.Env(EnvSession)
	return err == nil && s.ID != "" && env[EnvSession] == s.ID
}
