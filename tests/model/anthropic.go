package model

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// anthropic is the Messages API, as Claude Code and OpenCode's anthropic provider use it.
type anthropic struct{}

// messagesRequest is the part of a request that the server looks at.
type messagesRequest struct {
	Model    string
	Stream   bool
	System   texts
	Tools    []struct{ Name string }
	Messages []struct {
		Role    string
		Content blocks
	}
}

// block is one content block; a tool result's own content is not needed beyond its text.
type block struct {
	Type    string
	Text    string
	Content texts
}

// blocks is a content that may be a plain string instead.
type blocks []block

func (b *blocks) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*b = blocks{{Type: "text", Text: s}}
		return nil
	}
	return json.Unmarshal(raw, (*[]block)(b))
}

// texts is the text of a string or of a list of blocks.
type texts string

func (t *texts) UnmarshalJSON(raw []byte) error {
	var list blocks
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	var all []string
	for _, b := range list {
		all = append(all, b.Text)
	}
	*t = texts(strings.Join(all, "\n"))
	return nil
}

func (a anthropic) decode(body []byte) (turn, error) {
	var q messagesRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return turn{}, err
	}
	t := turn{model: q.Model, stream: q.Stream, system: string(q.System)}
	for _, offered := range q.Tools {
		t.tools = append(t.tools, tool{name: offered.Name})
	}
	for _, m := range q.Messages {
		if m.Role != "user" {
			continue
		}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				t.items = append(t.items, item{text: b.Text})
			case "tool_result":
				t.items = append(t.items, item{text: string(b.Content), result: true})
			}
		}
	}
	return t, nil
}

func (anthropic) failure(status int, code, message string) object {
	return object{"type": "error", "error": object{"type": firstOf(code, errorType(status)), "message": message}}
}

// errorType is the API's name for an HTTP status.
func errorType(status int) string {
	names := map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusForbidden: "permission_error", http.StatusNotFound: "not_found_error",
		http.StatusTooManyRequests: "rate_limit_error", 529: "overloaded_error",
	}
	return firstOf(names[status], "api_error")
}

// message is the answer's frame; usage has the same figures in a stream's first and last event.
func (anthropic) message(t turn, content []object, stop any) object {
	return object{
		"id": newID("msg_"), "type": "message", "role": "assistant", "model": t.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage(1),
	}
}

func usage(out int) object {
	return object{
		"input_tokens": 1000, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 11, "output_tokens": out,
		"cache_creation": object{"ephemeral_5m_input_tokens": 7, "ephemeral_1h_input_tokens": 0}, "service_tier": "standard",
	}
}

func stopReason(r reply) string {
	if r.call != nil {
		return "tool_use"
	}
	return "end_turn"
}

// contents are the reply's blocks: text, tool use.
func (anthropic) contents(r reply) []object {
	var list []object
	if r.text != "" {
		list = append(list, object{"type": "text", "text": r.text})
	}
	if r.call != nil {
		list = append(list, object{"type": "tool_use", "id": newID("toolu_"), "name": r.call.name, "input": r.call.args})
	}
	return list
}

func (a anthropic) whole(t turn, r reply) object {
	m := a.message(t, a.contents(r), stopReason(r))
	m["usage"] = usage(50)
	return m
}

// answer streams the reply as Messages events.
func (a anthropic) answer(ctx context.Context, s *Server, w http.ResponseWriter, t turn, r reply) {
	out := openStream(w)
	out.event("message_start", object{"message": a.message(t, []object{}, nil)})
	for i, b := range a.contents(r) {
		delta := func(kind, key string, value any) {
			out.event("content_block_delta", object{"index": i, "delta": object{"type": kind, key: value}})
		}
		start := func(b object) { out.event("content_block_start", object{"index": i, "content_block": b}) }
		switch b["type"] {
		case "text":
			start(object{"type": "text", "text": ""})
			there := s.speak(ctx, r, func(text string) { delta("text_delta", "text", text) }, func() { out.event("ping", object{}) })
			if !there {
				return
			}
			if r.fails {
				e := a.failure(http.StatusInternalServerError, r.code, "The stream failed.")
				out.event("error", object{"error": e["error"]})
				return
			}
		case "tool_use":
			start(object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}})
			delta("input_json_delta", "partial_json", string(r.call.args))
		}
		out.event("content_block_stop", object{"index": i})
	}
	out.event("message_delta", object{"delta": object{"stop_reason": stopReason(r), "stop_sequence": nil}, "usage": usage(50)})
	out.event("message_stop", object{})
}
