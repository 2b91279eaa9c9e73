package opencode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// The variables with a server's password and the user name for it (READ 1.18.33). They are read only in our own environment: those of
// another process are its secret.
const (
	passwordKey = "OPENCODE_SERVER_PASSWORD"
	usernameKey = "OPENCODE_SERVER_USERNAME"
	defaultUser = "opencode"
)

// request is an HTTP request to a server about one of its sessions.
type request struct {
	path   string // with the query
	body   []byte // JSON; nil for none
	accept int    // the status of an answer that accepts the request
	refuse string // what a server does not do that answers with another status, for people
}

// sessionPath returns the path of a request about a session. The server runs each directory's sessions in an instance of its own, which it
// finds by the directory; the instance of the session's directory is loaded already.
func sessionPath(s discover.Session, action string) string {
	return "/session/" + url.PathEscape(s.ID) + "/" + action + "?directory=" + url.QueryEscape(s.Dir)
}

// ask sends the request to each port of the process until one accepts it. A port may belong to something else in the process. If the
// process listens on another address than loopback, another process may have the port on loopback.
func (r request) ask(ctx context.Context, server proc.Process, ports []int, host launch.Environment) (accepted bool, err error) {
	password := host.Getenv(passwordKey)
	for _, port := range ports {
		var status int
		status, err = r.post(ctx, server, port, host.Getenv(usernameKey), password)
		switch {
		case errors.Is(err, proc.ErrOtherPeer):
			err = fmt.Errorf("another process than %s listens on 127.0.0.1:%d, and is not asked", server.ID, port)
		case err != nil:
		case status == r.accept:
			return true, nil
		case status == 401 && password == "":
			return false, fmt.Errorf("the server on port %d asks for a password: set %s", port, passwordKey)
		case status == 401:
			return false, fmt.Errorf("the server on port %d does not take the password in %s", port, passwordKey)
		default:
			err = fmt.Errorf("the server on port %d does not %s: HTTP status %d", port, r.refuse, status)
		}
	}
	return false, err
}

// post sends the request to a server at a port on loopback, and returns the status of the answer. If another process listens there, post
// sends nothing and returns [proc.ErrOtherPeer].
func (r request) post(ctx context.Context, server proc.Process, port int, user, password string) (status int, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d%s", port, r.path), bytes.NewReader(r.body))
	if err != nil {
		return 0, err
	}
	if r.body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if password != "" {
		q.SetBasicAuth(cmp.Or(user, defaultUser), password)
	}
	const maxHeader = 64 << 10
	transport := &http.Transport{DialContext: server.Dial, DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader}
	answer, err := transport.RoundTrip(q) // follows no redirection
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

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
