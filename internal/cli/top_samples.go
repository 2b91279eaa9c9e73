package cli

import (
	"fmt"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/remote"
	"agentctl/proc"
)

// topRowKey identifies a row over time. Sessions without an ID are told apart by their process.
type topRowKey struct {
	host            string // "" for this machine
	agent, id, path string
	process         string
}

func topKeyOf(s *object.Session) topRowKey {
	k := topRowKey{agent: s.Adapter, path: s.Path}
	if !isHere(s.Host) {
		k.host = s.Host
	}
	if s.ID != nil {
		k.id = *s.ID
	} else {
		k.process = fmt.Sprint(s.PID, s.ProcessStartedAt)
	}
	return k
}

// keyHere is the key of a session of this machine.
func keyHere(s *discover.Session) topRowKey {
	k := topRowKey{agent: string(s.Agent), id: s.ID, path: s.Path}
	if all := s.AllProcesses(); s.ID == "" && len(all) > 0 {
		k.process = fmt.Sprint(all[0].ID.PID, object.Timestamp(all[0].Started))
	}
	return k
}

// isHere reports whether the sessions of a host are those of this machine: the pids of all others, and their directories, mean nothing here.
func isHere(name string) bool { return name == "" || name == remote.Local }

// keptSamples bounds the samples of one row.
const keptSamples = 64

// usageSample is what one process had used at a time.
type usageSample map[proc.ID]time.Duration

// topSamples are what was measured of one row since the start.
type topSamples struct {
	cpuAt   time.Time
	byPID   usageSample
	cpu     []float64 // percent of one processor
	memory  *int64
	tokens  []tokenSample
	perTick []float64 // tokens between two samples
}

// tokenSample is how many tokens a session had used at a time.
type tokenSample struct {
	at    time.Time
	total int64
}

// addCPU adds what the processes of the row have used until now. The first sample makes no value. A process that has begun since
// counts in full.
func (s *topSamples) addCPU(now time.Time, used usageSample) {
	if s.byPID != nil && now.After(s.cpuAt) {
		var spent time.Duration
		for id, cpu := range used {
			spent += max(0, cpu-s.byPID[id])
		}
		s.cpu = appendBounded(s.cpu, 100*spent.Seconds()/now.Sub(s.cpuAt).Seconds())
	}
	s.cpuAt, s.byPID = now, used
}

// addTokens adds how many tokens the session has used until now. A total that has become smaller begins anew.
func (s *topSamples) addTokens(now time.Time, total int64) {
	spent := 0.0
	if n := len(s.tokens); n > 0 {
		spent = float64(max(0, total-s.tokens[n-1].total))
		if total < s.tokens[n-1].total {
			s.tokens = nil
		}
	}
	s.tokens, s.perTick = appendBounded(s.tokens, tokenSample{now, total}), appendBounded(s.perTick, spent)
}

// tokenRate is how many tokens a minute the session has used lately; nil if there are not enough samples.
func (s *topSamples) tokenRate() *float64 {
	if len(s.tokens) == 0 {
		return nil
	}
	last := s.tokens[len(s.tokens)-1]
	first := last
	for _, t := range s.tokens {
		if last.at.Sub(t.at) <= rateSpan {
			first = t
			break
		}
	}
	span := last.at.Sub(first.at)
	if span < leastRateSpan {
		return nil
	}
	rate := float64(last.total-first.total) / span.Minutes()
	return &rate
}

// currentCPU is the newest value; nil if there is none.
func (s *topSamples) currentCPU() *float64 {
	if len(s.cpu) == 0 {
		return nil
	}
	return &s.cpu[len(s.cpu)-1]
}

func appendBounded[T any](list []T, v T) []T {
	if len(list) >= keptSamples {
		list = append(list[:0:0], list[len(list)-keptSamples+1:]...)
	}
	return append(list, v)
}
