package codex

import (
	"cmp"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// turnSettings are the settings of a turn.
type turnSettings struct {
	Model, Dir, Approval, Sandbox string
	// Reviewer decides on approvals (0.147 and later): "user", or a model.
	Reviewer string
	// Profile is the ID of the permission profile that the sandbox was made from (0.160 and later).
	Profile string
	// workspaceAccess is set if the sandbox mode workspace-write differs from its default.
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
func parseSettings(o jsonl.Object) turnSettings {
	s := turnSettings{
		Model: o.Get("model").Text(0), Dir: o.Get("cwd").Text(0),
		Approval: o.Get("approval_policy").Text(0), Reviewer: o.Get("approvals_reviewer").Text(0),
		Profile: o.Get("active_permission_profile").Object().Get("id").Text(0), // 0.160 and later; ":workspace", ":read-only"
	}
	s.Sandbox, s.Workspace = parseSandbox(o.Get("sandbox_policy").Object())
	s.Sandbox = cmp.Or(s.Sandbox, s.Profile)
	return s
}

func parseSandbox(o jsonl.Object) (mode string, _ *workspaceAccess) {
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
