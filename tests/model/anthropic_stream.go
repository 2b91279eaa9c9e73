package model

import (
	"context"
	"net/http"
)

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
