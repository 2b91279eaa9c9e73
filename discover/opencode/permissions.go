package opencode

import (
	"bytes"

	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
	"agentctl/launch"
)

// permissionKey names the variable with permissions, as JSON, that the agent lays over those of its configuration files
// (SEEN 1.1.65, 1.18.33): objects are merged, and of the rules for one tool the last that fits counts.
const permissionKey = "OPENCODE_PERMISSION"

const (
	// editRule lets the agent change files, save those that its configuration refuses by name. "edit" is the permission of
	// all tools that write files; what lies outside of the directory has one more.
	editRule = `"edit":{"*":"allow"}`
	// denyQuestions keeps a headless turn from asking questions that nobody would see, as `run` does in the sessions that it makes.
	denyQuestions = `"question":"deny","plan_enter":"deny","plan_exit":"deny"`
)

// permissionEnv is the variable for the permissions asked for, with what it holds already.
func permissionEnv(r launch.Request, host launch.Environment) []string {
	var rules []byte
	add := func(rule []byte) {
		if len(rules) > 0 && len(rule) > 0 {
			rules = append(rules, ',')
		}
		rules = append(rules, rule...)
	}
	if r.Permissions == launch.PermissionsEdit {
		add([]byte(editRule))
	}
	if r.Resume != nil && !r.Interactive && r.Resume.Source != modeRun.source() {
		add([]byte(denyQuestions))
	}
	if len(rules) == 0 {
		return nil
	}
	own := rules
	rules = nil
	if set := bytes.TrimSpace([]byte(host.Getenv(permissionKey))); jsonl.Object(set).Complete() {
		add(bytes.TrimSpace(set[1 : len(set)-1]))
	}
	add(own) // of two rules with one name JSON takes the later
	return []string{permissionKey + "={" + string(rules) + "}"}
}

// skipApprovals are the options of the mode without approvals: --auto (SEEN 1.18.33), before that
// --dangerously-skip-permissions (SEEN 1.14.41, 1.15.13, 1.17.0; not in 1.3.2), which 1.18.33 still takes. Rules that
// deny hold all the same. The terminal interface has the former only.
func (p installation) skipApprovals(r launch.Request) ([]string, error) {
	switch {
	case r.Permissions != launch.PermissionsFull:
		return nil, nil
	case r.Interactive && p.version.Before(native.Version{1, 18, 33}):
		return nil, unsupported("of version " + p.versionText() + " has no mode without approvals in a terminal; it asks there")
	case p.version.Before(native.Version{1, 3, 3}):
		return nil, unsupported("of version " + p.versionText() + " has no mode without approvals; use --permissions edit, or a newer one")
	case p.version.Before(native.Version{1, 18, 33}):
		return []string{"--dangerously-skip-permissions"}, nil
	}
	return []string{"--auto"}, nil
}
