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

// StopSignals implements [launch.Stopper]. At SIGTERM, the terminal interface aborts its turns, ends their tools and exits. `run` and
// servers die of it without doing that (SEEN 1.18.33). If a tool runs, the terminal interface of 1.1.65 only restores the screen at the
// first SIGTERM, and dies of the second.
func (Adapter) StopSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}
}

// NeedsInterrupt implements [launch.Stopper]. A process that may run several sessions must be asked if it listens, or if its ports cannot
// be read.
func (Adapter) NeedsInterrupt(s discover.Session) bool {
	return s.Shared && slices.ContainsFunc(s.Processes, func(p proc.Process) bool {
		ports, err := p.Uncached().ListenPorts()
		return err != nil || len(ports) > 0
	})
}

// Interrupt implements [launch.Stopper]. It asks a server, or a terminal interface that listens, over HTTP to abort the session's turn. The
// answer comes after the turn's tools have ended. The process and its other sessions continue (SEEN 1.18.33). A session without a turn
// in progress needs no request.
func (Adapter) Interrupt(ctx context.Context, s discover.Session, host launch.Environment) (accepted bool, err error) {
	if !s.Shared {
		return false, nil
	}
	for _, p := range s.Processes {
		ports, err := p.Uncached().ListenPorts() // another process may have the port by now
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

// abort sends the request to each port of the process until one accepts it. A port may belong to something else in the process. If the
// process listens on another address than loopback, another process may have the port on loopback.
func abort(ctx context.Context, s discover.Session, server proc.Process, ports []int, host launch.Environment) (accepted bool, err error) {
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
