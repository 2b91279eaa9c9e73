package output_test

import (
	"fmt"
	"io"
	"testing"

	"agentctl/discover"
	"agentctl/internal/output"
)

// manySessions returns 10,000 sessions, as a heavy user has after some years.
func manySessions() []discover.Session {
	list := make([]discover.Session, 10_000)
	for i := range list {
		list[i] = completeSession()
		list[i].ID = fmt.Sprintf("%08x-c285-7d91-bd0a-842a7d8b5424", i*7919)
	}
	return list
}

func BenchmarkSessionTable(b *testing.B) {
	list := manySessions()
	for _, width := range []int{0, 120} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			for b.Loop() {
				if err := output.SessionTable(io.Discard, list, output.TextOptions{Now: now, Width: width, Home: "/home/me"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkJSONArray(b *testing.B) {
	list := manySessions()
	for b.Loop() {
		if err := output.JSONArrayFunc(io.Discard, list, output.NewSession); err != nil {
			b.Fatal(err)
		}
	}
}
