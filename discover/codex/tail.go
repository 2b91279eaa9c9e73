package codex

import (
	"cmp"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// TailLimit is how far back the newest turn is searched for.
const TailLimit = 256 << 20

// Tail is what the end of a rollout tells. Lines come newest first, so what is known already stays.
type Tail struct {
	thread string
	TailOptions

	Updated  time.Time
	turn     NewestTurn
	Settings Settings
	applied  Settings
	Usage    Usage
}

// TailOptions is what is asked for beside the turn and its settings: the token totals, however far back they are settled, and the
// limits that stand with them.
type TailOptions struct{ Tokens, Quotas bool }

// Settings are what a turn runs with.
type Settings struct {
	Model, Dir, Approval, Sandbox string
	// Reviewer is who is asked for approval (0.147 and later): "user", or a model.
	Reviewer string
	// Profile is the id of the permission profile that the sandbox was made from (0.160 and later).
	Profile string
	// Workspace is set where it differs from what the sandbox allows by itself.
	Workspace *Workspace
}

// ReadTail reads backwards until the newest turn, its settings and, if asked for, the token totals are known. A file
// without them is read to its beginning, if that is within the last end bytes.
func ReadTail(f *native.File, end int64, id string, want TailOptions) (t Tail, err error) {
	t.thread, t.TailOptions, t.Usage.wantQuotas = id, want, want.Quotas
	f.Expect(ExpectedTurn)
	whole, err := f.Backward(end, t.addLine)
	if whole {
		t.turn.reachedStart()
		t.Usage.reachedStart()
	}
	if t.Settings == (Settings{}) {
		t.Settings = t.applied
	}
	return t, err
}

// addLine takes the line before the last one and reports whether more are needed.
func (t *Tail) addLine(l native.Line) bool {
	r, ok := Decode(l.Bytes, t.thread)
	switch {
	case ok && !t.needs(r.Kind):
		t.turn.trackCalls(&r)
	case ok && r.Complete(l.Bytes):
		t.addRecord(&r)
	case !l.Cut && native.Damaged(l.Bytes):
		t.turn.addDamaged()
	}
	if at := r.Time(); at.After(t.Updated) {
		t.Updated = at
	}
	return !t.complete()
}

func (t *Tail) complete() bool {
	return t.turn.decided() && t.Settings != (Settings{}) && (t.Usage.Final || !t.Tokens && !t.Usage.Any)
}

// needs reports whether a record of this kind can tell something that is not known yet. A turn may have megabytes of others,
// and they are not gone over.
func (t *Tail) needs(is Kind) bool {
	switch is {
	case TurnContext:
		return t.Settings == (Settings{})
	case SettingsApplied:
		return t.Settings == (Settings{}) && t.applied == (Settings{})
	case TokenUsageRecord, TokenCount:
		return !t.Usage.Final
	}
	return t.turn.needs(is)
}

func (t *Tail) addRecord(r *Record) {
	switch {
	case r.Kind == TurnContext && t.Settings == (Settings{}):
		t.Settings = parseSettings(r.payload)
	case r.Kind == SettingsApplied && t.applied == (Settings{}):
		t.applied = parseSettings(r.Get("thread_settings").Object())
	}
	t.Usage.add(r)
	t.turn.add(r)
}

// parseSettings reads settings.
func parseSettings(o native.Object) Settings {
	s := Settings{
		Model: o.Get("model").Text(0), Dir: o.Get("cwd").Text(0),
		Approval: o.Get("approval_policy").Text(0), Reviewer: o.Get("approvals_reviewer").Text(0),
		Profile: o.Get("active_permission_profile").Object().Get("id").Text(0), // 0.160 and later; ":workspace", ":read-only"
	}
	s.Sandbox, s.Workspace = parseSandbox(o.Get("sandbox_policy").Object())
	s.Sandbox = cmp.Or(s.Sandbox, s.Profile)
	return s
}

func parseSandbox(o native.Object) (mode string, _ *Workspace) {
	var w Workspace
	for key, value := range o.Members() {
		switch string(key) {
		case "type", "mode": // mode: 0.42
			mode = value.Text(0)
		case "writable_roots":
			const most = 64
			for root := range value.Elements() {
				if len(w.WritableRoots) == most {
					break
				}
				w.WritableRoots = append(w.WritableRoots, root.Text(discover.PathLimit))
			}
		case "network_access":
			w.Network = string(value.Raw()) == "true"
		case "exclude_tmpdir_env_var":
			w.ExcludeTmpdir = string(value.Raw()) == "true"
		case "exclude_slash_tmp":
			w.ExcludeSlashTmp = string(value.Raw()) == "true"
		}
	}
	if len(w.WritableRoots) == 0 && !w.Network && !w.ExcludeTmpdir && !w.ExcludeSlashTmp {
		return mode, nil
	}
	return mode, &w
}
