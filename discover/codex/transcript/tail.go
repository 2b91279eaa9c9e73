package transcript

import (
	"time"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// TailLimit is the number of bytes that are searched for the newest turn.
const TailLimit = 256 << 20

// Tail is the end of a rollout. Lines come newest first, so that what is set already stays.
type Tail struct {
	thread string
	TailOptions

	Updated  time.Time
	newest   NewestTurn
	Settings Settings
	applied  Settings
	Usage    Usage
}

// TailOptions is what is read besides the turn and its settings: the token totals, however far back they are final, and the quotas.
type TailOptions struct{ Tokens, Quotas bool }

// ReadTail reads backwards until the newest turn, its settings and, if asked for, the token totals are known, but no more than the last
// end bytes.
func ReadTail(f *fsread.File, end int64, id string, options TailOptions) (t Tail, err error) {
	t.thread, t.TailOptions, t.Usage.wantQuotas = id, options, options.Quotas
	whole, err := f.Backward(end, t.addLine)
	if whole {
		t.newest.reachedStart()
		t.Usage.reachedStart()
	}
	if t.Settings == (Settings{}) {
		t.Settings = t.applied
	}
	return t, err
}

// addLine adds the next older line and reports whether more are needed.
func (t *Tail) addLine(l fsread.Line) bool {
	r, ok := Decode(l.Bytes, t.thread)
	switch {
	case ok && !t.needs(r.Kind): // whether its payload is complete does not matter, and checking it would mean reading megabytes
		t.newest.trackCalls(&r)
	case ok && r.Complete(l.Bytes):
		t.addRecord(&r)
	case !l.Cut && jsonl.Damaged(l.Bytes):
		t.newest.addDamaged()
	}
	if at := r.Time(); at.After(t.Updated) {
		t.Updated = at
	}
	return !t.complete()
}

func (t *Tail) complete() bool {
	return t.newest.decided() && t.Settings != (Settings{}) && (t.Usage.Final || !t.Tokens && !t.Usage.Any)
}

// needs reports whether a record of this kind can add something. A turn may have megabytes of other records, whose payloads are not
// read.
func (t *Tail) needs(kind Kind) bool {
	switch kind {
	case TurnContext:
		return t.Settings == (Settings{})
	case SettingsApplied:
		return t.Settings == (Settings{}) && t.applied == (Settings{})
	case TokenUsageRecord, TokenCount:
		return !t.Usage.Final
	}
	return t.newest.needs(kind)
}

func (t *Tail) addRecord(r *Record) {
	switch {
	case r.Kind == TurnContext && t.Settings == (Settings{}):
		t.Settings = parseSettings(r.payload)
	case r.Kind == SettingsApplied && t.applied == (Settings{}):
		t.applied = parseSettings(r.Get("thread_settings").Object())
	}
	t.Usage.add(r)
	t.newest.add(r)
}
