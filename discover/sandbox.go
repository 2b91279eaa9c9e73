package discover

import (
	"errors"
	"slices"

	"agentctl/proc"
)

// errInSandbox: what runs cannot be told from what does not.
var errInSandbox = errors.New("inside an agent's sandbox other sessions cannot be seen")

// seesSandboxOnly reports whether a table shows the inside of an agent's sandbox only: a pid namespace whose first process
// is the sandbox, or one in which the agent is not visible that has marked our environment as in its sandbox.
func (scanner *Scanner) seesSandboxOnly(table *proc.Table) bool {
	if first, ok := table.ByPID(1); ok && scanner.SandboxAgent(first) != "" {
		return true
	}
	if scanner.EnclosingSandboxAgent(func(a Agent) func(string) string { return scanner.HomeSources(a).Getenv }) == "" {
		return false
	}
	for p := range table.Ancestors(scanner.PID) {
		if scanner.IsAgent(p) {
			return false
		}
	}
	return true
}

// IsAgent reports whether a process is an agent's program, one that runs no session included.
func (scanner *Scanner) IsAgent(p proc.Process) bool {
	return slices.ContainsFunc(scanner.Adapters, func(a Adapter) bool { return a.IsAgentProcess(p) })
}

// EnclosingSandboxAgent returns the agent in whose sandbox an environment is, "" if it is in none. environment returns the
// environment to ask each agent with; nil: that agent is not asked.
func (scanner *Scanner) EnclosingSandboxAgent(environment func(Agent) func(string) string) Agent {
	for _, a := range scanner.Adapters {
		if getenv := environment(a.Name()); getenv != nil && a.InSandbox(getenv) {
			return a.Name()
		}
	}
	return ""
}

// SandboxAgent returns the agent whose sandbox a process is, "" if it is none.
func (scanner *Scanner) SandboxAgent(p proc.Process) Agent {
	for _, a := range scanner.Adapters {
		if a.IsSandbox(p) {
			return a.Name()
		}
	}
	return ""
}
