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

// Spec implements [launch.Adapter]: the agent takes the ID of a new session on its command line, and its prompt on stdin.
func (Adapter) Spec(r launch.Request, host launch.Environment) (launch.Spec, error) {
	program, err := host.LookPath(string(Name))
	if err != nil {
		return launch.Spec{}, err
	}
	if r.Interactive || r.Fork || r.Model != "" || r.Name != "" || r.Permissions != launch.PermissionsOwn {
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

// ParseOutput implements [launch.Adapter]: an error is the last line on stderr.
func (Adapter) ParseOutput(o launch.Output) launch.ParsedOutput {
	lines := strings.Split(strings.TrimSpace(string(o.Stderr)), "\n")
	return launch.ParsedOutput{Error: lines[len(lines)-1]}
}

// ScrubbedEnv implements [launch.Adapter].
func (Adapter) ScrubbedEnv() []string { return []string{EnvSession} }

// StopSignals implements [launch.Stopper]: the agent removes its pid file and ends.
func (Adapter) StopSignals() []syscall.Signal { return []syscall.Signal{syscall.SIGTERM} }

// NeedsInterrupt implements [launch.Stopper]: a signal is always right.
func (Adapter) NeedsInterrupt(discover.Session) bool { return false }

// Interrupt implements [launch.Stopper]: there is no other way.
func (Adapter) Interrupt(context.Context, discover.Session, launch.Environment) (bool, error) {
	return false, nil
}

// HasMarker implements [launch.Stopper].
func (Adapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(EnvSession)
	return err == nil && s.ID != "" && env[EnvSession] == s.ID
}
