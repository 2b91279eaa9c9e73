package model

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/tests/directive"
)

// Server is a running model server.
type Server struct {
	// URL is the base without a version: http://127.0.0.1:PORT.
	URL string

	http    *http.Server
	stop    context.CancelFunc
	ended   chan struct{}
	record  *record
	gatesMu sync.Mutex
	gates   map[string]chan struct{}
}

// api is one dialect.
type api interface {
	decode(body []byte) (turn, error)
	failure(status int, code, message string) object
	answer(context.Context, *Server, http.ResponseWriter, turn, reply)
}

// Start listens on addr, "127.0.0.1:0" for a free port.
func Start(addr string) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{
		URL: "http://" + l.Addr().String(), stop: stop, ended: make(chan struct{}),
		record: newRecord(), gates: map[string]chan struct{}{},
	}
	s.http = &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: time.Minute,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(l)
	}()
	return s, nil
}

// Close ends the server and every answer that hangs.
func (s *Server) Close() error {
	s.stop()
	err := s.http.Close()
	<-s.ended
	return err
}

// Release ends every pause at the gate, those to come as well: "hang @gate", "delay @gate".
func (s *Server) Release(gate string) {
	c := s.gate(gate)
	s.gatesMu.Lock()
	defer s.gatesMu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

func (s *Server) gate(name string) chan struct{} {
	s.gatesMu.Lock()
	defer s.gatesMu.Unlock()
	if s.gates[name] == nil {
		s.gates[name] = make(chan struct{})
	}
	return s.gates[name]
}

// WaitRequest returns the first request that matches: one that came, or the next one to come until ctx is done.
// A request counts from its arrival, before it is answered.
func (s *Server) WaitRequest(ctx context.Context, match func(Request) bool) (Request, error) {
	return s.record.wait(ctx, match)
}

// Requests returns all requests so far in the order of their arrival.
func (s *Server) Requests() []Request {
	all, _ := s.record.since(0)
	return all
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.model("messages", anthropic{}))
	mux.HandleFunc("POST /v1/responses", s.model("responses", responses{}))
	mux.HandleFunc("POST /v1/messages/count_tokens", s.other("messages/count_tokens", http.StatusOK, object{"input_tokens": 1000}))
	mux.HandleFunc("GET /v1/models", s.other("models", http.StatusOK, object{"object": "list", "data": []object{}, "models": []object{}, "has_more": false}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.other(strings.TrimPrefix(r.URL.Path, "/v1/"), http.StatusNotFound, anthropic{}.failure(http.StatusNotFound, "", "no such path"))(w, r)
	})
	return mux
}

// other records a request that is not for an answer of the model.
func (s *Server) other(name string, status int, body object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		s.record.add(Request{API: name, Body: raw})
		writeJSON(w, status, body)
	}
}

// model answers as the directive in the request asks.
func (s *Server) model(name string, a api) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		t, err := a.decode(body)
		if err != nil {
			err = fmt.Errorf("the request is no JSON that I know: %w", err)
		}
		s.record.add(requestOf(name, t, body))
		var plan reply
		if err == nil {
			plan, err = t.plan()
		}
		if err != nil {
			plan = reply{status: http.StatusBadRequest}
		}
		if plan.before != nil && !s.hold(r.Context(), *plan.before, func() {}) {
			return
		}
		w.Header().Set("Request-Id", newID("req_")) // Claude Code stores it with the answer
		switch {
		case plan.status != http.StatusOK:
			message := errors.Join(fmt.Errorf("the model answers with status %d", plan.status), err).Error()
			writeJSON(w, plan.status, a.failure(plan.status, plan.code, message))
		case t.stream:
			a.answer(r.Context(), s, w, t, plan)
		case plan.during == nil || s.hold(r.Context(), *plan.during, func() {}): // of Anthropic's API only
			writeJSON(w, http.StatusOK, anthropic{}.whole(t, plan))
		}
	}
}

func requestOf(name string, t turn, body []byte) Request {
	q := Request{API: name, Model: t.model, Side: t.side(), Body: body}
	q.Prompt, q.Step, _ = t.newest()
	return q
}

func writeJSON(w http.ResponseWriter, status int, body object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// newID returns a new id: agents take equal ids for one message.
func newID(prefix string) string { return prefix + rand.Text() }

// Request is one request that the server got, as a test wants to see it.
type Request struct {
	// API is the path without its version: "messages", "messages/count_tokens", "responses", "models", …
	API string
	// Model is the model that the agent asked for.
	Model string
	// Prompt is the newest real text of the user.
	Prompt string
	// Step counts the tool results since Prompt: 0 is the turn's first call.
	Step int
	// Side marks what is no part of a turn: a title, a summary.
	Side bool
	// Body is the request itself.
	Body []byte
}

// record keeps the requests in the order of their arrival.
type record struct {
	mu   sync.Mutex
	all  []Request
	grew chan struct{} // closed and replaced by each arrival
}

func newRecord() *record { return &record{grew: make(chan struct{})} }

func (r *record) add(q Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, q)
	close(r.grew)
	r.grew = make(chan struct{})
}

// since returns the requests from the nth on, and what is closed when there are more.
func (r *record) since(n int) ([]Request, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all[n:]), r.grew
}

// wait returns the first request that matches, of those that came and of those to come.
func (r *record) wait(ctx context.Context, match func(Request) bool) (Request, error) {
	seen := 0
	for {
		batch, grew := r.since(seen)
		if i := slices.IndexFunc(batch, match); i >= 0 {
			return batch[i], nil
		}
		seen += len(batch)
		select {
		case <-grew:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("none of %d requests to the model matches: %w", seen, ctx.Err())
		}
	}
}

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
