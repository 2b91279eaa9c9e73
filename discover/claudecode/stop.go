package claudecode

import (
	"context"
	"strings"
	"syscall"

	"agentctl/discover"
	"agentctl/launch"
)

// StopSignals implements [launch.Stopper]. SIGTERM ends a TUI and print mode. 2.1.197 may end only the running command and
// continue its turn, so SIGINT follows.
func (Adapter) StopSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}
}

// NeedsInterrupt implements [launch.Stopper]. A background session has to be stopped by its daemon, which restarts it when
// it dies.
func (Adapter) NeedsInterrupt(s discover.Session) bool { return jobOf(s) != "" }

// jobOf returns the background job of a session, "" if it has none. Since the ID becomes an argument, one that looks like a
// flag does not count.
func jobOf(s discover.Session) string {
	job, _ := s.Meta.Get(jobMeta).(string)
	if s.Source != "bg" || strings.HasPrefix(job, "-") {
		return ""
	}
	return job
}

// Interrupt implements [launch.Stopper]. `claude stop` ends a background session for good (SEEN 2.1.329).
func (Adapter) Interrupt(ctx context.Context, s discover.Session, host launch.Environment) (bool, error) {
	job := jobOf(s)
	if job == "" {
		return false, nil
	}
	program, err := findProgram(host)
	if err != nil {
		return true, err
	}
	_, err = host.Output(ctx, "", homeEnv(s.Home, host), program, "stop", job)
	return true, err
}
