package model

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

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
