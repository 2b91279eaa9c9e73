package model

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"
)

// responses is OpenAI's Responses API, as Codex uses it: always streaming.
type responses struct{}

// responsesRequest is the part of a request that the server looks at.
type responsesRequest struct {
	Model        string
	Stream       bool
	Instructions string
	Tools        []responsesTool
	Text         struct{ Format struct{ Type string } }
	Input        []struct {
		Type    string
		Role    string
		Content blocks
		Name    string
		CallID  string `json:"call_id"`
		Output  output
	}
}

// responsesTool is a function, or a namespace with functions in it (Codex since 0.150).
type responsesTool struct {
	Type, Name string
	Tools      []responsesTool
}

// output is a tool's result: a plain string, or a list of content blocks.
type output string

func (o *output) UnmarshalJSON(raw []byte) error {
	var t texts
	if json.Unmarshal(raw, &t) == nil {
		*o = output(t)
		return nil
	}
	*o = output(raw) // an object: its text is searched as it is
	return nil
}

func (responses) decode(body []byte) (turn, error) {
	var q responsesRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return turn{}, err
	}
	t := turn{model: q.Model, stream: q.Stream, system: q.Instructions, schema: q.Text.Format.Type == "json_schema"}
	for _, offered := range q.Tools {
		t.tools = append(t.tools, offered.flat("")...)
	}
	polls := map[string]bool{}
	for _, in := range q.Input {
		switch in.Type {
		case "function_call":
			polls[in.CallID] = in.Name == "write_stdin"
		case "function_call_output", "custom_tool_call_output":
			t.items = append(t.items, item{text: string(in.Output), result: true, poll: polls[in.CallID]})
		case "message", "":
			for _, b := range in.Content {
				if in.Role == "user" {
					t.items = append(t.items, item{text: b.Text})
				} else if in.Role != "assistant" { // system, developer
					t.system += b.Text
				}
			}
		}
	}
	return t, nil
}

// flat lists a tool, or the tools of a namespace. Tools without a name (web_search) go by their type.
func (o responsesTool) flat(namespace string) []tool {
	if len(o.Tools) == 0 {
		return []tool{{namespace, firstOf(o.Name, o.Type)}}
	}
	var list []tool
	for _, inner := range o.Tools {
		list = append(list, inner.flat(o.Name)...)
	}
	return list
}

func (responses) failure(status int, code, message string) object {
	return object{"error": object{"message": message, "type": firstOf(code, errorType(status)), "param": nil, "code": firstOf(code, errorType(status))}}
}

// response is the answer's frame.
func (responses) response(id, status string, t turn, extra object) object {
	o := object{"id": id, "object": "response", "created_at": time.Now().Unix(), "status": status, "model": t.model, "output": []object{}}
	maps.Copy(o, extra)
	return o
}

// outputs are the reply's items: message, function call.
func (responses) outputs(r reply) []object {
	var list []object
	if r.text != "" {
		list = append(list, object{
			"type": "message", "id": newID("msg_"), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": r.text, "annotations": []object{}}},
		})
	}
	if r.call != nil {
		call := object{
			"type": "function_call", "id": newID("fc_"), "call_id": newID("call_"), "status": "completed",
			"name": r.call.name, "arguments": string(r.call.args),
		}
		if r.call.namespace != "" {
			call["namespace"] = r.call.namespace
		}
		list = append(list, call)
	}
	return list
}

func tokens() object {
	return object{
		"input_tokens": 1000, "input_tokens_details": object{"cached_tokens": 600}, "output_tokens": 50,
		"output_tokens_details": object{"reasoning_tokens": 10}, "total_tokens": 1050,
	}
}

// answer streams the reply as Responses events.
func (a responses) answer(ctx context.Context, s *Server, w http.ResponseWriter, t turn, r reply) {
	out := openStream(w)
	id := newID("resp_")
	send := func(kind string, data object) {
		data["sequence_number"] = out.seq
		out.event(kind, data)
	}
	send("response.created", object{"response": a.response(id, "in_progress", t, nil)})
	outputs := a.outputs(r)
	for i, it := range outputs {
		begun := maps.Clone(it)
		begun["status"] = "in_progress"
		if it["type"] == "message" {
			begun["content"] = []object{}
		}
		send("response.output_item.added", object{"output_index": i, "item": begun})
		if it["type"] == "message" {
			delta := func(text string) {
				send("response.output_text.delta", object{"item_id": it["id"], "output_index": i, "content_index": 0, "delta": text})
			}
			if !s.speak(ctx, r, delta, func() { out.comment("keep-alive") }) {
				return
			}
			if r.fails {
				e := object{"error": object{"code": r.code, "message": "The stream failed."}}
				send("response.failed", object{"response": a.response(id, "failed", t, e)})
				return
			}
		}
		send("response.output_item.done", object{"output_index": i, "item": it})
	}
	send("response.completed", object{"response": a.response(id, "completed", t, object{"output": outputs, "usage": tokens()})})
}
