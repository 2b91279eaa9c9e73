package sampleagent

import (
	"crypto/rand"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// Spec: the agent takes the ID of a new session on its command line, and its prompt on stdin.
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

// ParseOutput: an error is the last line on stderr.
func (Adapter) ParseOutput(o launch.Output) launch.ParsedOutput {
	lines := strings.Split(strings.TrimSpace(string(o.Stderr)), "\n")
	return launch.ParsedOutput{Error: lines[len(lines)-1]}
}

// ScrubbedEnv is the marker.
func (Adapter) ScrubbedEnv() []string { return []string{EnvSession} }

// HasMarker compares the marker with the ID.
func (Adapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(EnvSession)
	return err == nil && s.ID != "" && env[EnvSession] == s.ID
}
