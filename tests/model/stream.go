package model

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"agentctl/tests/directive"
)

// heartbeat is how often a silent stream sends its keep-alive: agents take a dead silence for a dead server.
const heartbeat = time.Second

// stream writes server-sent events. Writing to a client that has gone is no error: its context ends the answer.
type stream struct {
	w   http.ResponseWriter
	seq int
}

func openStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w}
}

// event sends one event; its type is part of the data in both APIs.
func (s *stream) event(kind string, data object) {
	data["type"] = kind
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err) // only our own plain values get here
	}
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, raw)
	s.flush()
	s.seq++
}

// comment is a line that every client skips.
func (s *stream) comment(text string) {
	fmt.Fprintf(s.w, ": %s\n\n", text)
	s.flush()
}

func (s *stream) flush() {
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// speak sends the reply's text through delta, with the waits that the reply asks for. It reports whether the
// client is still there.
func (s *Server) speak(ctx context.Context, r reply, delta func(string), ping func()) bool {
	if r.during != nil {
		delta("Partial text. ")
		if !s.hold(ctx, *r.during, ping) {
			return false
		}
	}
	delta(r.text)
	return ctx.Err() == nil
}

// hold waits, calling ping at every heartbeat, and reports whether the client is still there.
func (s *Server) hold(ctx context.Context, p directive.Pause, ping func()) bool {
	var over <-chan time.Time // never, for a pause without a time
	if p.Time > 0 {
		over = time.After(p.Time)
	}
	var gate <-chan struct{}
	if p.Gate != "" {
		gate = s.gate(p.Gate)
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-gate:
			return true
		case <-over:
			return true
		case <-beat.C:
			ping()
		}
	}
}
