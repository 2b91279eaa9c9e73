package opencode

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"syscall"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// StopSignals implements [launch.Stopper]. The terminal interface takes SIGTERM as the wish to end: it aborts its turns and
// ends their tools. `run` and servers die of it and leave both behind (SEEN 1.18.33). The terminal interface of 1.1.65 only
// gives the screen back at the first one while a tool runs, and dies of the second.
func (Adapter) StopSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}
}

// NeedsInterrupt implements [launch.Stopper]: a process that runs several sessions, and listens. If its ports cannot be read, it
// may listen.
func (Adapter) NeedsInterrupt(s discover.Session) bool {
	return s.Shared && slices.ContainsFunc(s.Processes, func(p proc.Process) bool {
		ports, err := p.Uncached().ListenPorts()
		return err != nil || len(ports) > 0
	})
}

// Interrupt implements [launch.Stopper]: where a process runs several sessions, a server, or a terminal that listens, is asked
// over HTTP to abort this one's turn. It answers when the turn's tools are gone; the other sessions go on, and so does the
// process (SEEN 1.18.33). A session without a turn in progress has nothing to end.
func (Adapter) Interrupt(ctx context.Context, s discover.Session, host launch.Environment) (accepted bool, err error) {
	if !s.Shared {
		return false, nil
	}
	for _, p := range s.Processes {
		ports, err := p.Uncached().ListenPorts() // another may listen there by now
		if err != nil || len(ports) == 0 {
			continue
		}
		if s.Status == discover.Idle {
			return true, nil
		}
		return abort(ctx, s, p.Uncached(), ports, host)
	}
	return false, nil
}

// abort asks at each port of the process in turn; one that is not the server's answers otherwise, or not at all. The process
// may listen on another address than loopback, where another one has the port.
func abort(ctx context.Context, s discover.Session, server proc.Process, ports []int, host launch.Environment) (taken bool, err error) {
	path := "/session/" + url.PathEscape(s.ID) + "/abort?directory=" + url.QueryEscape(s.Dir)
	password := host.Getenv(passwordKey)
	for _, port := range ports {
		var status int
		status, err = post(ctx, server, port, path, host.Getenv(usernameKey), password)
		switch {
		case errors.Is(err, proc.ErrOtherPeer):
			err = fmt.Errorf("another process than %s listens on 127.0.0.1:%d, and is not asked", server.ID, port)
		case err != nil:
		case status == 200:
			return true, nil
		case status == 401 && password == "":
			return false, fmt.Errorf("the server on port %d asks for a password: set %s", port, passwordKey)
		case status == 401:
			return false, fmt.Errorf("the server on port %d does not take the password in %s", port, passwordKey)
		default:
			err = fmt.Errorf("the server on port %d does not abort the turn: HTTP status %d", port, status)
		}
	}
	return false, err
}

// HasMarker implements [launch.Stopper]: what the agent starts bears the pid of its process, whichever of its sessions it is
// for.
func (a Adapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(pidKey)
	if err != nil {
		return false
	}
	mark, ok := a.ReadMarker(func(key string) string { return env[key] })
	if !ok {
		return false
	}
	if pids, err := p.NamespacePIDs(); err != nil || len(pids) > 1 {
		return false // a container's pids are not ours
	}
	for _, owner := range s.Processes {
		if owner.ID.PID == mark.PID && owner.ID != p.ID && owner.Ticks <= p.Ticks && !p.Started.Before(owner.Started) {
			return true
		}
	}
	return false
}
