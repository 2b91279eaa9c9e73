package codex

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"agentctl/launch"
)

// stdioServer is an app-server that was started for one client. It reads requests from its stdin and writes answers to its stdout, one on
// each line, and ends when its stdin ends (SEEN 0.149-0.169).
type stdioServer struct {
	*launch.StdioServer
	lines *bufio.Scanner
}

// startStdioServer starts the program as an app-server in a directory, with additional variables.
func startStdioServer(ctx context.Context, host launch.Environment, dir string, variables []string, program string) (stdioServer, error) {
	s, err := host.StartStdioServer(ctx, dir, variables, program, "app-server")
	if err != nil {
		return stdioServer{}, err
	}
	lines := bufio.NewScanner(s.Stdout)
	lines.Buffer(nil, maxMessage)
	return stdioServer{s, lines}, nil
}

// sendMessage implements [rpcConn].
func (s stdioServer) sendMessage(message []byte) error {
	_, err := s.Stdin.Write(append(message, '\n'))
	return s.explain(err)
}

// receive implements [rpcConn].
func (s stdioServer) receive() ([]byte, error) {
	if s.lines.Scan() {
		return s.lines.Bytes(), nil
	}
	return nil, s.explain(cmp.Or(s.lines.Err(), io.EOF))
}

// explain adds what a server that has ended too early has written to its stderr.
func (s stdioServer) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("codex app-server: %w: %s", err, s.Close())
}

func (s stdioServer) close() { s.Close() }
