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

	Name     string       // the newest name, "" if there is none
	quotas   *quotaFinder // nil: none are read
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
	if options.Quotas {
		t.quotas = new(quotaFinder)
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
func (t *rolloutTail) addLine(l storage.Line, r *rolloutRecord) bool {
	t.read = t.file.Size() - l.Offset
	if l.Rest && (t.Head == nil || l.Offset > t.Head.end) {
		t.damage.Add(l)
	}
	switch {
	case l.Cut:
		if r.decodeCut(t.file, l, t.thread); r.Kind == kindToolResult {
			t.newest.add(r)
		}
	case !t.needs(r.Kind) && r.payload != nil: // whether it is damaged does not matter
		t.newest.trackCalls(r)
	case l.Rest:
		t.newest.addDamaged()
	default:
		t.addRecord(r)
	}
	if at := r.Time(); at.After(t.Updated) {
		t.Updated = at
	}
	return !t.complete()
}

func (t *rolloutTail) complete() bool {
	return t.newest.decided() && t.Settings != (turnSettings{}) && (t.Usage.Final || !t.Tokens && !t.Usage.Any) && !t.needsName() && !t.needsLimits()
}

func (t *rolloutTail) needsName() bool { return t.Name == "" && t.read <= nameRange }

func (t *rolloutTail) needsLimits() bool { return t.quotas != nil && t.read <= limitRange }

// needs reports whether a record of this kind can add something. A turn may have megabytes of other records, whose payloads are not
// read.
func (t *rolloutTail) needs(kind recordKind) bool {
	switch kind {
	case kindTurnContext, kindTurnStarted:
		return t.Settings == (turnSettings{}) || t.newest.needs(kind) || !t.Usage.Final
	case kindSettingsApplied:
		return t.Settings == (turnSettings{}) && t.applied == (turnSettings{})
	case kindNamed:
		return t.needsName()
	case kindTokenUsage:
		return !t.Usage.Final
	case kindTokenCount:
		return !t.Usage.Final || t.needsLimits()
	case kindTurnCompleted:
		return t.newest.needs(kind) || t.needsLimits() && !t.quotas.answered
	}
	return t.newest.needs(kind)
}

func (t *rolloutTail) addRecord(r *rolloutRecord) {
	switch {
	case r.Kind == kindTurnContext && t.Settings == (turnSettings{}):
		t.Settings = parseSettings(r.payload)
	case r.Kind == kindSettingsApplied && t.applied == (turnSettings{}):
		t.applied = parseSettings(r.Get("thread_settings").Object())
	case r.Kind == kindNamed:
		t.Name = threadName(r.payload)
	case t.quotas != nil:
		t.quotas.add(r)
	}
	t.Usage.add(r)
	t.newest.add(r)
}

// turnSettings are the settings of a turn.
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
	var w workspaceAccess
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
			w.Network = value.IsTrue()
		case "exclude_tmpdir_env_var":
			w.ExcludeTmpdir = value.IsTrue()
		case "exclude_slash_tmp":
			w.ExcludeSlashTmp = value.IsTrue()
		}
	}
	if len(w.WritableRoots) == 0 && !w.Network && !w.ExcludeTmpdir && !w.ExcludeSlashTmp {
		return mode, nil
	}
	return mode, &w
}
