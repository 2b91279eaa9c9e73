package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/discover/quiet"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/proc"
)

// sampler measures what the sessions use.
type sampler struct {
	call  *Call
	table *Table
	began time.Time

	// owned by run's goroutine
	trees           map[rowKey][]ancestry.Node
	treesOf         int
	treesDue        time.Time
	tokensOf        string // what was stored when the tokens were read: see activityOf
	tokensDue       time.Time
	changesDue      time.Time
	quietDue        time.Time
	quietFinder     quietFinder
	changesAskedFor map[string]time.Time // by directory: the last activity there that git was asked after

	mu      sync.Mutex
	rows    map[rowKey]*topSamples
	details map[rowKey]object.Session // with facts that take reading a whole transcript
	changes map[string]*object.Changes
	quiet   map[rowKey]*object.Quiet
}

func newSampler(call *Call, table *Table) *sampler {
	return &sampler{
		call: call, table: table, began: time.Now(), quietFinder: quietFinder{call: call, filter: discover.SessionFilter{Agents: call.Agents}, observer: new(quiet.Observer)}, changesAskedFor: map[string]time.Time{},
		rows: map[rowKey]*topSamples{}, details: map[rowKey]object.Session{}, changes: map[string]*object.Changes{},
	}
}

// run takes samples until ctx ends.
func (s *sampler) run(ctx context.Context) {
	tick := time.NewTicker(sampleInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		if last, updates := s.table.Last(); last.Table != nil { // it has none where only other machines are asked
			s.sample(ctx, last, updates)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// sample takes one sample of each kind that is due, of the sessions of this machine. updates is the number of the result.
func (s *sampler) sample(ctx context.Context, r discover.Result, updates int) {
	now := time.Now()
	if s.treesOf != updates && !now.Before(s.treesDue) {
		s.buildTrees(r)
		s.treesOf, s.treesDue = updates, time.Now().Add(treeShare*time.Since(now))
		now = time.Now()
	}
	s.sampleProcesses()
	if activity := activityOf(r); s.tokensOf != activity && !now.Before(s.tokensDue) {
		s.tokensOf = activity
		s.readDetails(ctx)
		s.tokensDue = time.Now().Add(tokensShare * time.Since(now))
	}
	s.sampleTokens(r)
	if !now.Before(s.quietDue) {
		began := time.Now()
		s.findQuiet(ctx)
		s.quietDue = time.Now().Add(max(quietInterval, treeShare*time.Since(began)))
	}
	if !now.Before(s.changesDue) {
		began := time.Now()
		if s.readChanges(ctx, r) {
			s.changesDue = time.Now().Add(max(changesInterval, costShare*time.Since(began)))
		}
	}
}

// activityOf returns a text that differs once a session has begun or ended, or has stored something.
func activityOf(r discover.Result) string {
	var text strings.Builder
	for i := range r.Sessions {
		fmt.Fprintln(&text, keyOf(r.Sessions[i]), r.Sessions[i].Updated.UnixNano())
	}
	return text.String()
}

// findQuiet finds the sessions of which nothing moves.
func (s *sampler) findQuiet(ctx context.Context) {
	objects, _, err := s.quietFinder.find(ctx)
	if err != nil {
		return // the watcher meets the same error, and reports it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet = map[rowKey]*object.Quiet{}
	for i := range objects {
		s.quiet[rowKeyOf(&objects[i])] = objects[i].Quiet
	}
}

// buildTrees finds the processes of each session.
func (s *sampler) buildTrees(r discover.Result) {
	forest := ancestry.NewTrees(s.call.Scanner, r, r.Sessions)
	s.trees = map[rowKey][]ancestry.Node{}
	for i := range r.Sessions {
		s.trees[keyOf(r.Sessions[i])] = forest.Tree(r.Sessions[i])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := func(k rowKey) bool { _, known := s.trees[k]; return !known }
	maps.DeleteFunc(s.rows, func(k rowKey, _ *topSamples) bool { return gone(k) })
	maps.DeleteFunc(s.details, func(k rowKey, _ object.Session) bool { return gone(k) })
}

// row returns the samples of a row. s.mu is held.
func (s *sampler) row(k rowKey) *topSamples {
	if s.rows[k] == nil {
		s.rows[k] = &topSamples{}
	}
	return s.rows[k]
}

// sampleProcesses reads what the processes of the trees use. Processes that run, or work for, other sessions count there.
func (s *sampler) sampleProcesses() {
	for key, tree := range s.trees {
		used, memory, known := usageSample{}, int64(0), false
		for _, node := range tree {
			if len(node.Sessions) > 0 {
				continue
			}
			if u, err := node.Usage(); err == nil {
				used[node.ID], memory, known = u.CPU, memory+u.Memory, true
			}
		}
		now := time.Now()
		s.mu.Lock()
		row := s.row(key)
		if row.memory = nil; known {
			row.memory = &memory
			row.addCPU(now, used)
		}
		s.mu.Unlock()
	}
}

// readDetails reads the live sessions with their tokens and limits.
func (s *sampler) readDetails(ctx context.Context) {
	r, err := s.call.Scanner.List(ctx, discover.SessionFilter{Agents: s.call.Agents, Tokens: true, Full: true})
	if err != nil {
		return // the watcher meets the same error, and reports it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range r.Sessions {
		s.details[keyOf(r.Sessions[i])] = object.NewSession(r.Sessions[i])
	}
}

func (s *sampler) sampleTokens(r discover.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for i := range r.Sessions {
		if r.Sessions[i].Status == discover.Stopped {
			continue
		}
		key := keyOf(r.Sessions[i])
		if t := s.details[key].Tokens; t != nil {
			row := s.row(key)
			if began := r.Sessions[i].Created; row.tokens == nil && began.After(s.began) {
				row.addTokens(began, 0) // the session is new: all that it has used counts
			}
			row.addTokens(now, t.Total-t.CacheRead)
		}
	}
}

// readChanges asks git for the uncommitted changes in the directories in which something has happened, and reports whether
// there was one.
func (s *sampler) readChanges(ctx context.Context, r discover.Result) (asked bool) {
	for _, session := range r.Sessions {
		at, known := s.changesAskedFor[session.Dir]
		if session.Dir == "" || session.Trust != discover.TrustOurs || known && !session.Updated.After(at) {
			continue
		}
		asked, s.changesAskedFor[session.Dir] = true, session.Updated
		changes, err := s.call.Changes(ctx, session.Dir)
		if err != nil {
			changes = nil // status says why
		}
		s.mu.Lock()
		s.changes[session.Dir] = changes
		s.mu.Unlock()
	}
	return asked
}

// load returns the samples of a session, and sets its tokens and limits. Sessions of other machines are not measured.
func (s *sampler) load(session *object.Session) render.Load {
	if !isLocal(session.Host) {
		return render.Load{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := rowKeyOf(session)
	if d, ok := s.details[key]; ok {
		session.Tokens, session.Quotas = d.Tokens, d.Quotas
	}
	if session.Status == string(discover.Running) {
		session.Quiet = s.quiet[key]
	}
	load := render.Load{Changes: s.changes[session.CWD]}
	if row := s.rows[key]; row != nil && session.Status != string(discover.Stopped) {
		load.CPU, load.CPUHistory, load.Memory = row.currentCPU(), row.cpu, row.memory
		if load.TokenRate = row.tokenRate(); load.TokenRate != nil {
			load.TokenHistory = row.perTick
		}
	}
	return load
}

// keyOf is the key of a session of this machine.
func keyOf(s discover.Session) rowKey {
	return rowKeyOf(new(object.NewSession(s)))
}

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
func (ts *topSamples) addCPU(now time.Time, used usageSample) {
	if ts.byPID != nil && now.After(ts.cpuAt) {
		var spent time.Duration
		for id, cpu := range used {
			spent += max(0, cpu-ts.byPID[id])
		}
		ts.cpu = appendBounded(ts.cpu, 100*spent.Seconds()/now.Sub(ts.cpuAt).Seconds())
	}
	ts.cpuAt, ts.byPID = now, used
}

// addTokens adds how many tokens the session has used until now. A total that has become smaller begins anew.
func (ts *topSamples) addTokens(now time.Time, total int64) {
	spent := 0.0
	if n := len(ts.tokens); n > 0 {
		spent = float64(max(0, total-ts.tokens[n-1].total))
		if total < ts.tokens[n-1].total {
			ts.tokens = nil
		}
	}
	ts.tokens, ts.perTick = appendBounded(ts.tokens, tokenSample{now, total}), appendBounded(ts.perTick, spent)
}

// tokenRate is how many tokens the session has used in the last minute; nil if there are not enough samples.
func (ts *topSamples) tokenRate() *float64 {
	if len(ts.tokens) < 2 {
		return nil
	}
	last := ts.tokens[len(ts.tokens)-1]
	recent := ts.tokens[slices.IndexFunc(ts.tokens, func(t tokenSample) bool { return last.at.Sub(t.at) <= rateSpan }):]
	return new(float64(last.total - recent[0].total))
}

// currentCPU is the newest value; nil if there is none.
func (ts *topSamples) currentCPU() *float64 {
	if len(ts.cpu) == 0 {
		return nil
	}
	return &ts.cpu[len(ts.cpu)-1]
}

func appendBounded[T any](list []T, v T) []T {
	if len(list) >= keptSamples {
		list = append(list[:0:0], list[len(list)-keptSamples+1:]...)
	}
	return append(list, v)
}
