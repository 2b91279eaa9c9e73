package codex

import (
	"context"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// AttachCommand implements [launch.Attacher]. A terminal interface that is given the socket of an app-server shows a thread that the
// server runs; several may show one thread (SEEN 0.169). Versions before 0.160 have neither the daemon nor --remote.
func (Adapter) AttachCommand(ctx context.Context, s discover.Session, host launch.Environment) (c launch.Command, ok bool, err error) {
	i := slices.IndexFunc(s.Processes, func(p proc.Process) bool { return roleOf(p) == server })
	if i < 0 {
		return c, false, nil
	}
	path := serverSocket(s.Processes[i])
	if path == "" {
		return c, true, unsupported(fmt.Sprintf("runs the session in a server without a socket (%s): only its own client reaches it", s.Processes[i].ID))
	}
	conn, err := connect(ctx, path, s.Processes[i])
	if err != nil {
		return c, true, unsupported(fmt.Sprintf("cannot reach its server: %s does not answer at %s: %v", s.Processes[i].ID, path, err))
	}
	conn.close()
	p, err := findInstallation(host)
	if err != nil {
		return c, true, err
	}
	return launch.Command{
		Args: []string{p.path, "resume", "--remote", "unix://" + path, s.ID}, Env: slices.Concat(p.env, homeEnv(s, host)), Dir: s.Dir,
		Help: []string{p.path, "resume", "--help"}, HelpHas: "--remote ",
	}, true, nil
}

// roleOf returns what a process does by its arguments; helper if they cannot be read.
func roleOf(p proc.Process) role {
	args, _ := p.Args()
	return parseArgs(args).role
}
