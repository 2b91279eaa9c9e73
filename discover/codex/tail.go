package codex

import (
	"cmp"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// tailLimit is the number of bytes that are searched for the newest turn.
const tailLimit = 256 << 20

// nameRange and limitRange are the numbers of bytes at the end of a rollout that are searched for the thread's name and for the limits of
// its provider. One that is stated further back is not found: whole rollouts would have to be read for it.
const (
	nameRange  = 16 << 10
	limitRange = 16 << 20
)

// rolloutTail is the end of a rollout. Lines come newest first, so that what is set already stays.
type rolloutTail struct {
	thread string
	file   *storage.File
	tailOptions
	read int64 // bytes from the end of the file

	damage storage.Damage

	Name     string // the newest name, "" if there is none
	quotas   quotaFinder
	Updated  time.Time
	newest   newestTurn
	Settings turnSettings
	applied  turnSettings
	Usage    usageAtEnd
}

// tailOptions is what is read besides the turn and its settings: the token totals, however far back they are final, and the quotas. Head is
// the beginning of the rollout, if that is read already.
type tailOptions struct {
	Tokens, Quotas bool
	Head           *rolloutHead
}

// readTail reads backwards until the newest turn, its settings and, if asked for, the token totals are known, but no more than the last
// end bytes.
func readTail(f *storage.File, end int64, id string, options tailOptions) (t rolloutTail, err error) {
	t.thread, t.file, t.tailOptions = id, f, options
	if options.Head != nil {
		t.damage = options.Head.damage
	}
	whole, err := f.ParseBackward(end, parser(func() string { return id }, t.addLine))
	if whole {
		t.newest.reachedStart()
		t.Usage.Final = true
	}
	if t.Settings == (turnSettings{}) {
		t.Settings = t.applied
	}
	return t, err
}

// addLine adds the next older line and reports whether more are needed.
func (r *rolloutTail) addLine(l storage.Line, parsed *rolloutLine) bool {
	r.read = r.file.Size() - l.Offset
	if l.Rest && (r.Head == nil || l.Offset > r.Head.end) {
		r.damage.Add(l)
	}
	switch {
	case l.Cut:
		if parsed.decodeCut(r.file, l, r.thread); parsed.Kind == kindToolResult {
			r.newest.add(parsed)
		}
	case !r.needs(parsed.Kind) && parsed.payload != nil: // whether it is damaged does not matter
		r.newest.trackCalls(parsed)
	case l.Rest:
		r.newest.addDamaged()
	default:
		r.addRecord(parsed)
	}
	if at := parsed.Time(); at.After(r.Updated) {
		r.Updated = at
	}
	return !r.complete()
}

func (r *rolloutTail) complete() bool {
	return r.newest.decided() && r.Settings != (turnSettings{}) && (r.Usage.Final || !r.Tokens && !r.Usage.Any) && !r.needsName() && !r.needsLimits()
}

func (r *rolloutTail) needsName() bool { return r.Name == "" && r.read <= nameRange }

func (r *rolloutTail) needsLimits() bool { return r.Quotas && r.read <= limitRange }

// needs reports whether a record of this kind can add something. A turn may have megabytes of other records, whose payloads are not
// read.
func (r *rolloutTail) needs(kind lineKind) bool {
	switch kind {
	case kindTurnContext, kindTurnStarted:
		return r.Settings == (turnSettings{}) || r.newest.needs(kind) || !r.Usage.Final
	case kindSettingsApplied:
		return r.Settings == (turnSettings{}) && r.applied == (turnSettings{})
	case kindNamed:
		return r.needsName()
	case kindTokenUsage:
		return !r.Usage.Final
	case kindTokenCount:
		return !r.Usage.Final || r.needsLimits()
	case kindTurnCompleted:
		return r.newest.needs(kind) || r.needsLimits() && !r.quotas.answered
	}
	return r.newest.needs(kind)
}

func (r *rolloutTail) addRecord(parsed *rolloutLine) {
	switch {
	case parsed.Kind == kindTurnContext && r.Settings == (turnSettings{}):
		r.Settings = parseSettings(parsed.payload)
	case parsed.Kind == kindSettingsApplied && r.applied == (turnSettings{}):
		r.applied = parseSettings(parsed.Get("thread_settings").Object())
	case parsed.Kind == kindNamed:
		r.Name = threadName(parsed.payload)
	case r.Quotas:
		r.quotas.add(parsed)
	}
	r.Usage.add(parsed)
	r.newest.add(parsed)
}

type turnSettings struct {
	Model, Dir, Approval, Sandbox string
	// Reviewer decides on approvals (0.147 and later): "user", or a model.
	Reviewer string
	// Profile is the ID of the permission profile that the sandbox was made from (0.160 and later).
	Profile string
	// Workspace is set if the sandbox mode workspace-write differs from its default.
	Workspace *workspaceAccess
}

// workspaceAccess is how the sandbox mode workspace-write differs from its default.
type workspaceAccess struct {
	WritableRoots   []string `json:"writableRoots,omitempty"`
	Network         bool     `json:"network,omitempty"`
	ExcludeTmpdir   bool     `json:"excludeTmpdir,omitempty"` // $TMPDIR may not be written
	ExcludeSlashTmp bool     `json:"excludeSlashTmp,omitempty"`
}

// parseSettings parses the settings of a turn_context or thread_settings.
func parseSettings(o storage.Object) turnSettings {
	s := turnSettings{
		Model: o.Get("model").Text(0), Dir: o.Get("cwd").Text(0),
		Approval: o.Get("approval_policy").Text(0), Reviewer: o.Get("approvals_reviewer").Text(0),
		Profile: o.Get("active_permission_profile").Object().Get("id").Text(0), // 0.160 and later; ":workspace", ":read-only"
	}
	s.Sandbox, s.Workspace = parseSandbox(o.Get("sandbox_policy").Object())
	s.Sandbox = cmp.Or(s.Sandbox, s.Profile)
	return s
}

func parseSandbox(o storage.Object) (mode string, _ *workspaceAccess) {
	mode = o.First("type", "mode").Text(0) // mode: 0.42
	w := workspaceAccess{
		Network:         o.Get("network_access").IsTrue(),
		ExcludeTmpdir:   o.Get("exclude_tmpdir_env_var").IsTrue(),
		ExcludeSlashTmp: o.Get("exclude_slash_tmp").IsTrue(),
	}
	const most = 64
	for root := range o.Get("writable_roots").Elements() {
		if len(w.WritableRoots) < most {
			w.WritableRoots = append(w.WritableRoots, root.Text(discover.PathLimit))
		}
	}
	if len(w.WritableRoots) == 0 && !w.Network && !w.ExcludeTmpdir && !w.ExcludeSlashTmp {
		return mode, nil
	}
	return mode, &w
}
