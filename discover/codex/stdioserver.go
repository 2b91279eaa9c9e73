package codex

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"agentctl/launch"
)

// stdioServer is an app-server that was started for one client. It reads requests from its stdin and writes answers to its stdout, one on
// each line, and ends when its stdin ends (SEEN 0.149-0.169).
type stdioServer struct {
	*launch.StdioServer
	lines *bufio.Reader
}

var errMessageTooLong = errors.New("a message is longer than is read")

// startStdioServer starts the program as an app-server in a directory, with additional variables.
func startStdioServer(ctx context.Context, host launch.Environment, dir string, variables []string, program string) (stdioServer, error) {
	s, err := host.StartStdioServer(ctx, dir, variables, program, "app-server")
	if err != nil {
		return stdioServer{}, err
	}
	return stdioServer{s, bufio.NewReader(s.Stdout)}, nil
}

// sendMessage implements [rpcConn].
func (s stdioServer) sendMessage(message []byte) error {
	_, err := s.Stdin.Write(append(message, '\n'))
	return s.explain(err)
}

// receive implements [rpcConn].
func (s stdioServer) receive() ([]byte, error) {
	var message []byte
	for {
		part, err := s.lines.ReadSlice('\n')
		switch message = append(message, part...); {
		case len(message) > maxMessage:
			return nil, errMessageTooLong
		case err == nil:
			return message, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, s.explain(err)
		}
	}
}

// explain adds what a server that has ended too early has written to its stderr.
func (s stdioServer) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("codex app-server: %w: %s", err, s.Close())
}

func (s stdioServer) close() { s.Close() }
