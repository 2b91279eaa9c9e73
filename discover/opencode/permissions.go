package opencode

import (
	"slices"
	"strings"

	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
	"agentctl/launch"
)

// permissionKey is the variable with permissions, as JSON, that override those of the configuration files. The agent merges the objects;
// of the rules for a tool, the last one that matches counts (SEEN 1.18.33).
const permissionKey = "OPENCODE_PERMISSION"

const (
	// editRule allows the agent to change files, except those that its configuration denies by name. All tools that write files have the
	// permission "edit". Files outside of the directory need another permission too.
	editRule = `"edit":{"*":"allow"}`
	// denyQuestions denies a headless turn to ask questions, which nobody would see. `run` sets the same for the sessions that it makes.
	denyQuestions = `"question":"deny","plan_enter":"deny","plan_exit":"deny"`
)

// permissionEnv returns the variable for the requested permissions; it keeps those that the environment sets.
func permissionEnv(r launch.Request, host launch.Environment) []string {
	var rules []string
	if r.Permissions == launch.PermissionsEdit {
		rules = append(rules, editRule)
	}
	if r.Resume != nil && !r.Interactive && r.Resume.Source != modeRun.source() {
		rules = append(rules, denyQuestions)
	}
	if len(rules) == 0 {
		return nil
	}
	if set := strings.TrimSpace(host.Getenv(permissionKey)); jsonl.Object(set).Complete() {
		if set = strings.TrimSpace(set[1 : len(set)-1]); set != "" {
			rules = slices.Insert(rules, 0, set) // of two members with the same name, the later counts
		}
	}
	return []string{permissionKey + "={" + strings.Join(rules, ",") + "}"}
}

// skipApprovals returns the option for the mode without approvals: --auto (SEEN 1.18.33), or in older versions
// --dangerously-skip-permissions (SEEN 1.14.41, 1.15.13, 1.17.0). 1.18.33 accepts both; its terminal interface has only
// --auto. Rules that deny still apply.
func (p installation) skipApprovals(r launch.Request) ([]string, error) {
	switch {
	case r.Permissions != launch.PermissionsFull:
		return nil, nil
	case r.Interactive && p.version.Before(native.Version{1, 18, 33}):
		return nil, unsupported("of version " + p.version.String() + " has no mode without approvals in a terminal; it asks there")
	case p.version.Before(native.Version{1, 18, 33}):
		return []string{"--dangerously-skip-permissions"}, nil
	}
	return []string{"--auto"}, nil
}
