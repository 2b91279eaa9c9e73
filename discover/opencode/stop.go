package opencode

import (
	"context"
	"syscall"

	"agentctl/discover"
	"agentctl/launch"
)

// StopSignals implements [launch.Adapter]. At SIGTERM, the terminal interface aborts its turns, ends their tools and exits. `run` and
// servers die of it without doing that (SEEN 1.18.33). If a tool runs, the terminal interface of 1.14.41 needs a second one (SEEN).
func (Adapter) StopSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}
}

// NeedsInterrupt implements [launch.Adapter]. A process that may run several sessions must be asked if it listens, or if its ports cannot
// be read.
func (Adapter) NeedsInterrupt(s discover.Session) bool {
	if !s.Shared {
		return false
	}
	found, err := listeners(s)
	return len(found) > 0 || err != nil
}

// Interrupt implements [launch.Adapter]. It asks a server, or a terminal interface that listens, over HTTP to abort the session's turn. The
// answer comes after the turn's tools have ended. The process and its other sessions continue (SEEN 1.18.33). A session without a turn
// in progress needs no request.
func (Adapter) Interrupt(ctx context.Context, s discover.Session, host launch.Environment) (accepted bool, err error) {
	found, _ := listeners(s)
	if !s.Shared || len(found) == 0 || s.Status == discover.Idle {
		return s.Shared && len(found) > 0, nil
	}
	return request{path: sessionPath(s, "abort"), accept: 200, refuse: "abort the turn"}.ask(ctx, found, host)
}

// StoreCommand implements [launch.Adapter]. `opencode session delete` also removes the session's sub-agents, from any
// directory (SEEN 1.18.33).
func (Adapter) StoreCommand(action launch.StoreAction, s discover.Session, host launch.Environment) (launch.Command, error) {
	switch {
	case action != launch.ActionRemove:
		return launch.Command{}, unsupported("has no command that archives or restores a session; only the API of its server has (PATCH /session/ID)")
	case s.Meta.Get("legacy") == true:
		return launch.Command{}, unsupported("has no command that deletes a session in JSON files of older versions")
	}
	p, err := findInstallation(host)
	if err != nil {
		return launch.Command{}, err
	}
	return launch.Command{
		Args: []string{p.path, "session", "delete", s.ID}, Env: storeEnv(&s, host), Dir: s.Home,
		Help: []string{p.path, "session", "delete", "--help"}, HelpHas: "opencode session delete ",
	}, nil
}
