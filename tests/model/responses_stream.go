package model

import (
	"context"
	"maps"
	"net/http"
)

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
