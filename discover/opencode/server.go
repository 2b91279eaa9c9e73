package opencode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

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
