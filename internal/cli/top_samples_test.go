package cli

import (
	"testing"
	"time"

	"agentctl/proc"
)

// The use of processors is that between two samples, of processes that have begun since in full, of those that ended no more.
func TestCPU(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	a, b := proc.ID{PID: 1, Birth: "1"}, proc.ID{PID: 2, Birth: "2"}
	var s topSamples
	if s.addCPU(at, usageSample{a: time.Hour}); s.currentCPU() != nil {
		t.Error("one sample makes a value")
	}
	for _, step := range []struct {
		used usageSample
		want float64
	}{
		{usageSample{a: time.Hour + time.Second}, 50},
		{usageSample{a: time.Hour + time.Second, b: 3 * time.Second}, 150},
		{usageSample{b: 3 * time.Second}, 0},
		{usageSample{a: time.Second}, 50}, // its clock went back: it counts as new
	} {
		at = at.Add(2 * time.Second)
		if s.addCPU(at, step.used); *s.currentCPU() != step.want {
			t.Errorf("%v: %v, want %v", step.used, *s.currentCPU(), step.want)
		}
	}
}

// The rate is that of the last minute, and is not told from too few seconds. A total that shrinks begins anew.
func TestTokenRate(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var s topSamples
	for n := range int64(100) { // 50 tokens each two seconds
		s.addTokens(at.Add(time.Duration(2*n)*time.Second), 1000+50*n)
		switch rate := s.tokenRate(); {
		case n < 3 && rate != nil:
			t.Errorf("%v after %d samples", *rate, n+1)
		case n >= 3 && (rate == nil || *rate != 1500):
			t.Errorf("%v after %d samples", rate, n+1)
		}
	}
	if n := len(s.perTick); n != keptSamples || s.perTick[n-1] != 50 {
		t.Errorf("%d samples: %v", n, s.perTick)
	}
	at = at.Add(time.Hour)
	if s.addTokens(at, 10); s.tokenRate() != nil || s.perTick[keptSamples-1] != 0 {
		t.Errorf("%v, %v", s.tokenRate(), s.perTick)
	}
}
