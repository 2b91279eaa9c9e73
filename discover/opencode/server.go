package opencode

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/discover/native"
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
// finds by the directory; the instance of the session's directory is loaded already. Before 1.2, a request with another directory is
// lost (SEEN 1.1.65).
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
// sends nothing and returns [proc.ErrOtherPeer]. It does not use net/http, which would add TLS and name resolution to the program.
func (r request) post(ctx context.Context, server proc.Process, port int, user, password string) (status int, err error) {
	conn, err := connect(ctx, port)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := server.VerifyPeer(ctx, conn); err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err = conn.Write(r.bytes(port, user, password)); err == nil {
		status, err = readStatus(conn)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return status, err
}

// bytes returns the request as it is sent.
func (r request) bytes(port int, user, password string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\nContent-Length: %d\r\n", r.path, port, len(r.body))
	if r.body != nil {
		b.WriteString("Content-Type: application/json\r\n")
	}
	if password != "" {
		login := cmp.Or(user, defaultUser) + ":" + password
		b.WriteString("Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(login)) + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(r.body)
	return b.Bytes()
}

// connect connects to a port on loopback.
func connect(ctx context.Context, port int) (*os.File, error) {
	name := fmt.Sprintf("127.0.0.1:%d", port)
	conn, err := native.Dial(ctx, name, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if err != nil {
		return nil, &os.PathError{Op: "connect", Path: name, Err: err}
	}
	return conn, nil
}

// readStatus reads the first line of an answer.
func readStatus(r io.Reader) (int, error) {
	const most = 1 << 10
	line, err := bufio.NewReader(io.LimitReader(r, most)).ReadString('\n')
	version, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	status, bad := strconv.Atoi(code)
	if !strings.HasPrefix(version, "HTTP/1.") || bad != nil || len(code) != 3 {
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		return 0, fmt.Errorf("no HTTP answer: %q", line)
	}
	return status, nil
}
