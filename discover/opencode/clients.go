package opencode

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// attachCommand is the subcommand of a terminal interface that shows the sessions of a server (`serve`, `web`, `acp`, a terminal with --port).
const attachCommand = "attach"

// clientClaims returns the claims of the clients that show the sessions of a server. claims are those of the server. Which session a client
// shows now is written nowhere: any of the server's. With -s, it is that one, unless another one has been prompted since the client started.
func (scan *processScan) clientClaims(server *loggedProcess, claims []discover.Claim) (out []discover.Claim) {
	if len(scan.clients) == 0 {
		return nil
	}
	ports, err := server.ListenPorts()
	if err != nil {
		return nil
	}
	for _, c := range scan.clients {
		if !slices.Contains(ports, c.serverPort()) {
			continue
		}
		for _, shown := range claims {
			if shown.Session == "" || !scan.mayShow(c, server, shown.Session) {
				continue
			}
			out = append(out, discover.Claim{
				Agent: agentName, Process: c.ID, Session: shown.Session, Path: shown.Path, Home: shown.Home,
				Strength: discover.Weak, Kind: "client", Detail: "attach to the server " + server.ID.String(), Client: true, Source: modeTUI.source(),
			})
		}
	}
	return out
}

// serverPort returns the port of the URL that a client was started with; 0 if there is none.
func (p process) serverPort() int {
	if len(p.promptArgs) == 0 {
		return 0
	}
	at, err := url.Parse(p.promptArgs[0])
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(at.Port())
	return port
}

// mayShow reports whether a client may show a session of its server.
func (scan *processScan) mayShow(c process, server *loggedProcess, id string) bool {
	s := server.stored.sessions[id]
	if c.session == id || s == nil {
		return c.session == id || c.session == ""
	}
	return s.Parent == "" && (c.session == "" || c.StartedBefore(s.lastStart()))
}

// FindClients implements [launch.Releaser]. A terminal interface that runs several sessions shows one of them.
func (Adapter) FindClients(_ context.Context, s discover.Session, _ launch.Environment) (sure, possible []proc.Process, err error) {
	possible = s.PossibleClients()
	for _, p := range s.Processes {
		if args, err := p.Args(); err == nil && len(args) > 0 && parseArgs(args[1:]).mode == modeTUI {
			possible = append(possible, p)
		}
	}
	return s.Clients, possible, nil
}

// Unload implements [launch.Releaser]. A server keeps its sessions.
func (Adapter) Unload(context.Context, discover.Session, launch.Environment) (bool, error) {
	return false, nil
}
