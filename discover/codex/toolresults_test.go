package codex

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"agentctl/discover/native/jsonl"
)

// Results without calls use bounded memory.
func testPendingResultsAreBounded(t *testing.T) {
	var r toolResults
	line := []byte(`{"timestamp":"2026-11-20T19:00:06Z","type":"response_item","payload":{"type":"function_call_output","call_id":"%d","output":"` +
		strings.Repeat("x", 1<<20) + `"}}`)
	for i := range 200 {
		e, _ := decodeRecord(bytes.Replace(line, []byte("%d"), []byte(strconv.Itoa(i)), 1), "")
		r.add(&e)
	}
	if r.bytes > maxPendingBytes+1<<20 || len(r.pending) == 0 {
		t.Errorf("%d results with %d bytes are held", len(r.pending), r.bytes)
	}
	for i := range 3 * maxPendingResults {
		r.addState(strconv.Itoa(1000+i), jsonl.Object(`{"status":"completed"}`))
	}
	if len(r.pending) > maxPendingResults || r.bytes != 0 {
		t.Errorf("%d results with %d bytes are held", len(r.pending), r.bytes)
	}
}
