package claudecode

import (
	"context"
	"strings"
	"syscall"

	"agentctl/discover"
	"agentctl/launch"
)

// StopSignals implements [launch.Stopper]. SIGTERM ends a TUI and print mode; 2.1.197 may only end the running command by
// it and go on with its turn.
func (Adapter) StopSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}
}

// NeedsInterrupt implements [launch.Stopper]: a background session's daemon starts it again when it dies.
func (Adapter) NeedsInterrupt(s discover.Session) bool { return jobOf(s) != "" }

// jobOf is the background job of a session, "" if it has none. What does not look like one is none: it becomes an argument.
func jobOf(s discover.Session) string {
	job, _ := s.Meta.Get(jobMeta).(string)
	if s.Source != "bg" || strings.HasPrefix(job, "-") {
		return ""
	}
	return job
}

// Interrupt implements [launch.Stopper]: `claude stop` ends a background session for good (SEEN 2.1.329).
func (a Adapter) Interrupt(ctx context.Context, s discover.Session, host launch.Environment) (bool, error) {
	job := jobOf(s)
	if job == "" {
		return false, nil
	}
	program, err := host.LookPath(a.Program())
	if err != nil {
		return true, &launch.NotInstalledError{Agent: a.Name(), Program: a.Program()}
	}
	return true, host.Run(ctx, homeEnv(s.Home, host), program, "stop", job)
}
