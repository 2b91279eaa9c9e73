package opencode

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover/native"
	"agentctl/proc"
)

// The variables with a server's password and the user name for it (READ 1.18.33). They are read only in our own environment: those of
// another process are its secret.
const (
	passwordKey = "OPENCODE_SERVER_PASSWORD"
	usernameKey = "OPENCODE_SERVER_USERNAME"
	defaultUser = "opencode"
)

// post sends an HTTP request without a body to a server at a port on loopback, and returns the status of the answer. If another process
// listens there, post sends nothing and returns [proc.ErrOtherPeer]. It does not use net/http, which would add TLS and name resolution to
// the program.
func post(ctx context.Context, server proc.Process, port int, path, user, password string) (status int, err error) {
	conn, err := connect(ctx, port)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := server.VerifyPeer(ctx, conn); err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\nContent-Length: 0\r\n", path, port)
	if password != "" {
		login := cmp.Or(user, defaultUser) + ":" + password
		request += "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(login)) + "\r\n"
	}
	if _, err = io.WriteString(conn, request+"\r\n"); err == nil {
		status, err = readStatus(conn)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return status, err
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
