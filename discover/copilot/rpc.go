package copilot

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"agentctl/launch"
)

// rpcConn is a connection to the agent's server. Before each message comes a header with its length (SEEN 1.0.82, 1.0.102).
type rpcConn struct {
	io.Writer
	in *bufio.Reader
}

// maxMessage is the most bytes of a message.
const maxMessage = 16 << 20

func connect(in io.Reader, out io.Writer) (*launch.RPCClient, error) {
	c := &launch.RPCClient{RPCConn: &rpcConn{out, bufio.NewReader(in)}, Version: "2.0"}
	_, err := c.Call("connect", struct{}{})
	return c, err
}

// SendMessage implements [launch.RPCConn].
func (r *rpcConn) SendMessage(message []byte) error {
	_, err := fmt.Fprintf(r, "Content-Length: %d\r\n\r\n%s", len(message), message)
	return err
}

// ReceiveMessage implements [launch.RPCConn]. The header is lines up to an empty one.
func (r *rpcConn) ReceiveMessage() ([]byte, error) {
	length := ""
	for {
		line, err := r.in.ReadSlice('\n') // one that is too long for the reader is an error
		if err != nil {
			return nil, err
		}
		key, value, ok := strings.Cut(strings.TrimSpace(string(line)), ":")
		if strings.EqualFold(key, "Content-Length") {
			length = strings.TrimSpace(value)
		}
		if !ok {
			break
		}
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > maxMessage {
		return nil, fmt.Errorf("a message of %q bytes", length)
	}
	message := make([]byte, n)
	_, err = io.ReadFull(r.in, message)
	return message, err
}

// Hangup implements [launch.RPCConn]. Who has opened the connection closes it.
func (*rpcConn) Hangup() {}
