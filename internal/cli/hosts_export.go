package cli

import (
	"context"
	"encoding/json"
	"errors"

	"agentctl/internal/object"
)

// maxNesting bounds how deep sub-agents of an export are nested.
const maxNesting = 100

// GatherExports is [Gather] of the exports of sessions. Each message is decoded by itself: a session may be longer than an object may be.
func GatherExports(ctx context.Context, c *Call, calls []HostCall, take func(e object.Export) error) error {
	decode := func(r *objectReader) (any, error) { return decodeExport(r, 0) }
	return c.gather(ctx, calls, func(ctx context.Context) error {
		return c.eachHost(ctx, calls, decode, func(host string, obj any) error {
			e := obj.(*object.Export)
			e.SetHost(host)
			return take(*e)
		})
	})
}

// decodeExport decodes one export, and checks what its texts are made of.
func decodeExport(r *objectReader, depth int) (*object.Export, error) {
	e := &object.Export{Messages: []object.Message{}}
	if depth > maxNesting {
		return nil, &badAnswer{errors.New("its sub-agents are nested too deep")}
	}
	if err := expect(r, '{'); err != nil {
		return nil, err
	}
	for r.More() {
		key, err := r.Token()
		if err != nil {
			return nil, err
		}
		switch key {
		case "session":
			if err = r.Decode(&e.Session); err == nil {
				err = BadAnswer(e.Session.Check())
			}
		case "messages":
			err = decodeList(r, func() error { return decodeMessage(r, e) })
		case "missing":
			err = r.Decode(&e.Missing)
		case "children":
			err = decodeList(r, func() error {
				child, err := decodeExport(r, depth+1)
				if err == nil {
					e.Children = append(e.Children, *child)
				}
				return err
			})
		default:
			err = r.Decode(new(json.RawMessage))
		}
		if err != nil {
			return nil, err
		}
	}
	if e.Session.Adapter == "" {
		return nil, &badAnswer{errors.New("no session of an agent: an export without one")}
	}
	return e, expect(r, '}')
}

func decodeMessage(r *objectReader, e *object.Export) error {
	var m object.Message
	if err := r.Decode(&m); err != nil {
		return err
	}
	if err := m.Check(); err != nil {
		return BadAnswer(err)
	}
	e.Messages = append(e.Messages, m)
	return nil
}

func decodeList(r *objectReader, element func() error) error {
	if err := expect(r, '['); err != nil {
		return err
	}
	for r.More() {
		if err := element(); err != nil {
			return err
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	return expect(r, ']')
}

func expect(r *objectReader, want json.Delim) error {
	token, err := r.Token()
	if err == nil && token != want {
		err = &badAnswer{errors.New("no export: something else stands where " + want.String() + " belongs")}
	}
	return err
}
