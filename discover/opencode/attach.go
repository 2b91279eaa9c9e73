package opencode

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// AttachCommand implements [launch.Attacher]. `opencode attach` shows a session of a server (`serve`, `web`, `acp`) over HTTP (SEEN
// 1.18.33). It takes the password from OPENCODE_SERVER_PASSWORD.
func (Adapter) AttachCommand(ctx context.Context, s discover.Session, host launch.Environment) (c launch.Command, ok bool, err error) {
	i := slices.IndexFunc(s.Processes, func(p proc.Process) bool {
		args, err := p.Args()
		return err == nil && len(args) > 0 && parseArgs(args[1:]).mode == modeServer
	})
	if i < 0 {
		return c, false, nil
	}
	server := s.Processes[i]
	port, err := serverPort(ctx, server)
	if err != nil {
		return c, true, unsupported(fmt.Sprintf("runs the session in a server that its client cannot reach: %v", err))
	}
	p, err := findInstallation(host)
	if err != nil {
		return c, true, err
	}
	return launch.Command{
		Args: []string{p.path, "attach", fmt.Sprintf("http://127.0.0.1:%d", port), "--session", s.ID, "--dir", s.Dir}, Env: storeEnv(&s, host), Dir: s.Dir,
		Help: []string{p.path, "attach", "--help"}, HelpHas: "opencode attach ",
	}, true, nil
}

// serverPort returns a port of loopback at which the process itself answers.
func serverPort(ctx context.Context, server proc.Process) (int, error) {
	ports, err := server.ListenPorts()
	if err != nil {
		return 0, err
	}
	failed := fmt.Errorf("%s listens on no port", server.ID)
	for _, port := range ports {
		conn, err := server.Dial(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		switch {
		case err == nil:
			return port, conn.Close() // nothing was written
		case errors.Is(err, proc.ErrOtherPeer):
			failed = fmt.Errorf("another process than %s listens on 127.0.0.1:%d", server.ID, port)
		default:
			failed = err
		}
	}
	return 0, failed
}
