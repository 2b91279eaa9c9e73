package opencode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
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
	method string // POST if it is ""
	path   string // with the query
	body   []byte // JSON; nil for none
	accept int    // the status of an answer that accepts the request
	refuse string // what a server does not do that answers with another status, for people
	// into takes the JSON of an answer that accepts the request; nil for none.
	into any
	// notFound is what the status 404 means; nil if it needs no explanation of its own.
	notFound error
}

// maxAnswer bounds an answer, in bytes. A list of open requests has diffs, which are as large as their files.
const maxAnswer = 16 << 20

// sessionPath returns the path of a request about a session. The server runs each directory's sessions in an instance of its own, which it
// finds by the directory; the instance of the session's directory is loaded already.
func sessionPath(s discover.Session, action string) string {
	return "/session/" + url.PathEscape(s.ID) + "/" + action + "?directory=" + url.QueryEscape(s.Dir)
}

// listener is a process that listens.
type listener struct {
	proc.Process
	ports []int
}

// listeners returns the processes of a session that listen. The error is about those whose ports cannot be read.
func listeners(s discover.Session) (found []listener, err error) {
	for _, p := range s.Processes {
		if ports, failed := p.ListenPorts(); failed != nil {
			err = unsupported("takes requests only on a port, and those of " + p.ID.String() + " cannot be read: " + storage.Cause(failed).Error())
		} else if len(ports) > 0 {
			found = append(found, listener{p, ports})
		}
	}
	return found, err
}

// ask sends the request to each port until one accepts it. A port may belong to something else in the process. If the process listens on
// another address than loopback, another process may have the port on loopback.
func (r request) ask(ctx context.Context, host launch.Environment, servers ...listener) (accepted bool, err error) {
	password := host.Getenv(passwordKey)
	for _, server := range servers {
		for _, port := range server.ports {
			var status int
			status, err = r.post(ctx, server.Process, port, host.Getenv(usernameKey), password)
			switch {
			case err != nil:
			case status == http.StatusNotFound && r.notFound != nil:
				return false, r.notFound
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
	}
	return false, err
}

// post sends the request to a server at a port on loopback, and returns the status of the answer. If another process listens there, post
// sends nothing and returns [*proc.OtherPeerError].
func (r request) post(ctx context.Context, server proc.Process, port int, user, password string) (status int, err error) {
	q, err := http.NewRequestWithContext(ctx, cmp.Or(r.method, http.MethodPost), fmt.Sprintf("http://127.0.0.1:%d%s", port, r.path), bytes.NewReader(r.body))
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
	defer answer.Body.Close()
	if r.into != nil && answer.StatusCode == r.accept { // a server that is none of the agent's returns something else
		err = json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(r.into)
	}
	return answer.StatusCode, err
}

// AttachCommand implements [launch.Adapter]. `opencode attach` shows a session of a server (`serve`, `web`, `acp`) over HTTP (SEEN
// 1.18.33). It takes the password from OPENCODE_SERVER_PASSWORD.
func (Adapter) AttachCommand(ctx context.Context, s discover.Session, host launch.Environment) (c launch.Command, ok bool, err error) {
	i := slices.IndexFunc(s.Processes, func(p proc.Process) bool { return modeOf(p) == modeServer })
	if i < 0 {
		return c, false, nil
	}
	if isV2(s) {
		c, err = attachV2(ctx, s, host)
		return c, true, err
	}
	port, err := answeringPort(ctx, s.Processes[i])
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

// answeringPort returns a port of loopback at which the process itself answers.
func answeringPort(ctx context.Context, server proc.Process) (int, error) {
	ports, err := server.ListenPorts()
	for _, port := range ports {
		conn, failed := server.Dial(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if failed == nil {
			return port, conn.Close() // nothing was written
		}
		err = failed
	}
	return 0, cmp.Or(err, fmt.Errorf("%s listens on no port", server.ID))
}

// attachCommand is the subcommand of a terminal interface that shows the sessions of a server (`serve`, `web`, `acp`, a terminal with --port).
const attachCommand = "attach"

// clientClaims returns the claims of the clients that show the sessions of a server. claims are those of the server. Which session a client
// shows now is written nowhere: any of the server's. With -s, it is that one, unless another one has been prompted since the client started.
func (scan *processScan) clientClaims(server *loggedProcess, claims []discover.Claim) (out []discover.Claim) {
	for _, c := range scan.clients {
		if !listensAt(server.Process, c.serverURL) {
			continue
		}
		for _, shown := range claims {
			if shown.Session != "" && c.mayShow(server.stored.sessions[shown.Session], shown.Session) {
				out = append(out, discover.Claim{
					Agent: agentName, Process: c.ID, Session: shown.Session, Path: shown.Path, Home: shown.Home,
					Strength: discover.Weak, Kind: "client", Detail: "attach to the server " + server.ID.String(), Client: true, Source: modeTUI,
				})
			}
		}
	}
	return out
}

// listensAt reports whether a process listens on the port of a URL of this machine. A server whose ports cannot be read is shown without its
// clients.
func listensAt(server proc.Process, address string) bool {
	at, err := url.Parse(address)
	ports, _ := server.ListenPorts()
	return err == nil && slices.ContainsFunc(ports, func(port int) bool { return strconv.Itoa(port) == at.Port() }) && isThisMachine(at.Hostname())
}

// isThisMachine reports whether a host is this machine, by its own name and addresses. No other name is looked up.
func isThisMachine(host string) bool {
	name, _ := os.Hostname()
	ip := net.ParseIP(host)
	if ip == nil || ip.IsLoopback() || ip.IsUnspecified() {
		return ip != nil || strings.EqualFold(host, "localhost") || strings.EqualFold(host, name)
	}
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		network, ok := a.(*net.IPNet)
		return ok && network.IP.Equal(ip)
	})
}

// mayShow reports whether a client may show a session of its server. s is nil if it is not stored.
func (p process) mayShow(s *session, id string) bool {
	if p.session == id || s == nil {
		return p.session == id || p.session == ""
	}
	return s.Parent == "" && (p.session == "" || p.StartedBefore(s.lastStart()))
}

// FindClients implements [launch.Adapter]. A terminal interface that runs several sessions shows one of them.
func (Adapter) FindClients(_ context.Context, s discover.Session, _ launch.Environment) (sure, possible []proc.Process, err error) {
	possible = s.PossibleClients()
	for _, p := range s.Processes {
		if modeOf(p) == modeTUI {
			possible = append(possible, p)
		}
	}
	for _, p := range s.Clients {
		if isV2(s) && !isV2Client(p, s) {
			possible = append(possible, p)
		} else {
			sure = append(sure, p)
		}
	}
	return sure, possible, nil
}
