package launch

import (
	"encoding/json"
	"fmt"

	"agentctl/discover/storage"
)

// RPCConn is a connection to a server that speaks JSON-RPC.
type RPCConn interface {
	// SendMessage sends one message of the protocol.
	SendMessage(message []byte) error
	// ReceiveMessage returns the next message. Error: [io.EOF] once the server has ended the connection.
	ReceiveMessage() ([]byte, error)
	Hangup()
}

// RPCClient is a client of such a server.
type RPCClient struct {
	RPCConn
	// Version is the version of the protocol, where the server wants it in requests.
	Version string
	// Incoming gets the server's notifications and its own requests; nil drops them.
	Incoming func(storage.Object)
	lastID   int
}

// RPCRequest is a request or, without an ID, a notification.
type RPCRequest struct {
	Version string `json:"jsonrpc,omitzero"`
	ID      int    `json:"id,omitzero"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitzero"`
}

// NextID returns an ID for a request.
func (c *RPCClient) NextID() int {
	c.lastID++
	return c.lastID
}

// Write sends a request, and does not wait for the answer.
func (c *RPCClient) Write(r RPCRequest) error {
	r.Version = c.Version
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return c.SendMessage(raw)
}

// Call sends a request and returns the result. Error: [*RPCError] if the server refuses.
func (c *RPCClient) Call(method string, params any) (storage.Object, error) {
	id := c.NextID()
	if err := c.Write(RPCRequest{ID: id, Method: method, Params: params}); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	for {
		answer, err := c.ReceiveObject()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if answer.Get("method") != nil && c.Incoming != nil {
			c.Incoming(answer)
		}
		if answer.Get("method") != nil || answer.Get("id").Int() != int64(id) {
			continue // a notification, or a request of the server's own
		}
		if problem := answer.Get("error"); problem != nil {
			return nil, NewRPCError(method, problem)
		}
		return answer.Get("result").Object(), nil
	}
}

// ReceiveObject returns the next message that is a complete object.
func (c *RPCClient) ReceiveObject() (storage.Object, error) {
	for {
		raw, err := c.ReceiveMessage()
		if o := storage.Object(raw); err != nil || o.Complete() {
			return o, err
		}
	}
}

// RPCError is an error response of the server.
type RPCError struct{ Method, Message string }

// NewRPCError returns the error in an answer.
func NewRPCError(method string, problem storage.Value) *RPCError {
	return &RPCError{method, problem.Object().Get("message").Text(rpcErrorLimit)}
}

// rpcErrorLimit is the most characters of an error's text.
const rpcErrorLimit = 1000

func (r *RPCError) Error() string { return fmt.Sprintf("%s: %s", r.Method, r.Message) }
