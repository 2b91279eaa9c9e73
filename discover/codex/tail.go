package codex

import (
	"cmp"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// tailLimit is how far back the newest turn is searched for.
const tailLimit = 256 << 20

// tail is what the end of a rollout tells. Lines come newest first, so what is known already stays.
type tail struct {
	id string
	wanted

	updated time.Time
	turn    turn
	context settings
	applied settings
	usage   usage
}

// wanted is what is asked for beside the turn and its settings: the token totals, however far back they are settled, and the
// limits that stand with them.
type wanted struct{ tokens, limits bool }

// settings are what a turn runs with.
type settings struct {
	model, dir, approval, sandbox string
	// reviewer is who is asked for approval (0.147 and later): "user", or a model.
	reviewer string
	// profile is the id of the permission profile that the sandbox was made from (0.160 and later).
	profile string
	// workspace is set where it differs from what the sandbox allows by itself.
	workspace *workspace
}

// readTail reads backwards until the newest turn, its settings and, if asked for, the token totals are known. A file
// without them is read to its beginning, if that is within the last end bytes.
func readTail(f *native.File, end int64, id string, want wanted) (t tail, err error) {
	t.id, t.wanted, t.usage.limited = id, want, want.limits
	f.Expect(usualTurn)
	whole, err := f.Backward(end, t.line)
	if whole {
		t.turn.end()
		t.usage.end()
	}
	if t.context == (settings{}) {
		t.context = t.applied
	}
	return t, err
}

// line takes the line before the last one and reports whether more are needed.
func (t *tail) line(l native.Line) bool {
	r, ok := decode(l.Bytes, t.id)
	switch {
	case ok && !t.wants(r.is):
		t.turn.note(&r)
	case ok && r.whole(l.Bytes):
		t.take(&r)
	case !l.Cut && native.Damaged(l.Bytes):
		t.turn.miss()
	}
	if at := r.time(); at.After(t.updated) {
		t.updated = at
	}
	return !t.done()
}

func (t *tail) done() bool {
	return t.turn.known() && t.context != (settings{}) && (t.usage.settled || !t.tokens && !t.usage.begun)
}

// wants reports whether a record of this kind can tell something that is not known yet. A turn may have megabytes of others,
// and they are not gone over.
func (t *tail) wants(is kind) bool {
	switch is {
	case turnContext:
		return t.context == (settings{})
	case settingsApplied:
		return t.context == (settings{}) && t.applied == (settings{})
	case tokenRecord, tokenCount:
		return !t.usage.settled
	}
	return t.turn.wants(is)
}

func (t *tail) take(r *record) {
	switch {
	case r.is == turnContext && t.context == (settings{}):
		t.context = settingsOf(r.payload)
	case r.is == settingsApplied && t.applied == (settings{}):
		t.applied = settingsOf(r.get("thread_settings").Object())
	}
	t.usage.see(r)
	t.turn.see(r)
}

// settingsOf reads settings.
func settingsOf(o native.Object) settings {
	s := settings{
		model: o.Get("model").Text(0), dir: o.Get("cwd").Text(0),
		approval: o.Get("approval_policy").Text(0), reviewer: o.Get("approvals_reviewer").Text(0),
		profile: o.Get("active_permission_profile").Object().Get("id").Text(0), // 0.160 and later; ":workspace", ":read-only"
	}
	s.sandbox, s.workspace = parseSandbox(o.Get("sandbox_policy").Object())
	s.sandbox = cmp.Or(s.sandbox, s.profile)
	return s
}

func parseSandbox(o native.Object) (mode string, _ *workspace) {
	var w workspace
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
