package discover_test

import (
	"fmt"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// BenchmarkCorrelate is what ten thousand stored sessions of which none lives cost between reading and printing.
func BenchmarkCorrelate(b *testing.B) {
	lists := make([][]discover.Record, 3)
	for i := range 10_000 {
		id := fmt.Sprintf("%08x-c285-7d91-bd0a-842a7d8b5424", uint32(i*2654435761))
		at := time.UnixMilli(1_750_000_000_000 + int64(uint32(i*40503))).UTC()
		agent := i % len(lists)
		lists[agent] = append(lists[agent], discover.Record{
			Agent: []discover.Agent{discover.ClaudeCode, discover.Codex, discover.OpenCode}[agent],
			ID:    id, Path: "/home/dev/.agent/sessions/" + id, Created: at, Updated: at.Add(time.Hour),
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		discover.Correlate(proc.NewFakeTable(), nil, lists...)
	}
}
