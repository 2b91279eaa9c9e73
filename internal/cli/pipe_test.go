package cli

import (
	"context"
	"errors"
	"os"
	"testing"
)

// A reader that does not read cannot keep us from ending.
func TestWritingEndsWithTheContext(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	text := make([]byte, 1<<20) // more than a pipe holds
	go func() { _, _ = r.Read(make([]byte, 1)); stop() }()
	if _, err := (ContextWriter{ctx, w}).Write(text); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	r.Close() // and with it ends what still writes
	w.Close()
}
