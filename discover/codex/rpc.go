package codex

import (
	"context"
	"encoding/json"
	"fmt"

	"agentctl/discover/native"
	"agentctl/proc"
)

// client talks to an app-server: JSON-RPC, a message a WebSocket message (SEEN 0.169).
type client struct {
	*socket
	asked int
}

// connect opens a connection to a server and introduces us.
func connect(ctx context.Context, path string, server proc.Process) (*client, error) {
	s, err := dial(ctx, path, server)
	if err != nil {
		return nil, err
	}
	c := &client{socket: s}
	_, err = c.call("initialize", map[string]any{
		"clientInfo": map[string]string{"name": "agentctl", "version": "1"},
		// without it there is no word of background terminals
		"capabilities": map[string]bool{"experimentalApi": true},
	})
	if err == nil {
		err = c.write(request{Method: "initialized"})
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return c, nil
}

type request struct {
	ID     int    `json:"id,omitzero"`
	Method string `json:"method"`
	Params any    `json:"params,omitzero"`
}

func (c *client) write(r request) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return c.send(text, raw)
}

// call asks and returns the result. Error: *refusal if the server does not do it.
func (c *client) call(method string, params any) (native.Object, error) {
	c.asked++
	if err := c.write(request{c.asked, method, params}); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	for {
		raw, err := c.receive()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		answer := native.Object(raw)
		if !answer.Complete() || answer.Get("method") != nil || answer.Get("id").Int() != int64(c.asked) {
			continue // a notification, or a question to whoever shows the thread
		}
		if problem := answer.Get("error"); problem != nil {
			return nil, &refusal{method, problem.Object().Get("message").Text(wordsLimit)}
		}
		return answer.Get("result").Object(), nil
	}
}

// refusal is the server's no.
type refusal struct{ method, words string }

func (r *refusal) Error() string { return fmt.Sprintf("%s: %s", r.method, r.words) }
