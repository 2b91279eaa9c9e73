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
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What a server's password is told by, and the user's name that goes with it (READ 1.18.33). Only our own environment is
// asked: another process's holds a secret.
const (
	passwordKey = "OPENCODE_SERVER_PASSWORD"
	usernameKey = "OPENCODE_SERVER_USERNAME"
	defaultUser = "opencode"
)

// post sends an HTTP request without a body to a port on loopback, and returns the status of the answer. One request in
// plain text is all that is ever needed: net/http would bring TLS into the program, and net a resolver of names.
func post(ctx context.Context, port int, path, user, password string) (status int, err error) {
	conn, err := dial(port)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
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

// dial connects to a port on loopback, which answers at once or never will. The file's deadlines work: a socket that does
// not block is waited for by the runtime.
func dial(port int) (*os.File, error) {
	name := fmt.Sprintf("127.0.0.1:%d", port)
	failed := func(op string, err error) error { return &os.PathError{Op: op, Path: name, Err: err} }
	syscall.ForkLock.RLock() // no child of ours is to inherit it
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, failed("socket", err)
	}
	if err = unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		_ = unix.Close(fd) // never used
		return nil, failed("connect", err)
	}
	return os.NewFile(uintptr(fd), name), nil
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
