package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/launch"
)

// resumeArgs are the arguments that name the session to resume. The session must be stored and its ID full: if Codex does not find it,
// it begins a new one without a warning (SEEN 0.104 for IDs, 0.169 for names).
func resumeArgs(r launch.Request, p installation) ([]string, error) {
	s := *r.Resume
	if s.Archived {
		return nil, unsupported(fmt.Sprintf("has archived the session: codex unarchive %s restores it", s.ID))
	}
	if !r.Fork {
		return []string{"resume", s.ID}, nil
	}
	if !r.Interactive && p.olderThan(firstExecForkVersion()) {
		return nil, unsupported(fmt.Sprintf("%s cannot copy a session in a headless run: codex fork %s can in a terminal", p.version, s.ID))
	}
	return []string{"fork", s.ID}, nil
}

// firstExecForkVersion is the first version that may have `exec fork`: 0.169 has it; 0.104 and, by its help, 0.146 do not. A version
// between them that lacks it says so itself.
func firstExecForkVersion() native.Version { return native.Version{0, 147} }

// homeEnv sets the session's home if it is not the one that Codex would use.
func homeEnv(s discover.Session, host launch.Environment) []string {
	if s.Home == "" || discover.RealPath(s.Home) == discover.RealPath(homeVariables().Dir(host.Getenv)) {
		return nil
	}
	return []string{homeVariables().Key + "=" + s.Home}
}

// settingsArgs are the options for model and permissions. `codex exec` forgets the model, the provider and the sandbox of a session that
// it resumes (SEEN 0.104, 0.169), and refuses to continue with another provider (SEEN 0.169). The terminal interface remembers them
// since it has a daemon; it does without the daemon if it is given a provider (SEEN 0.169).
func settingsArgs(r launch.Request, p installation) ([]string, error) {
	had := r.Resume
	if r.Interactive && !p.olderThan(firstDaemonVersion()) {
		had = nil
	}
	model := r.Model
	var flags []string
	if had != nil {
		model = cmp.Or(model, had.Model)
		if provider := sessionFact[string](had, "provider"); provider != "" {
			flags = append(flags, "-c", "model_provider="+tomlString(provider))
		}
	}
	if model != "" {
		flags = append(flags, "-m", model)
	}
	rights, err := permissionArgs(r.Permissions, had)
	return append(flags, rights...), err
}

// firstDaemonVersion is the first version that was seen to run the threads of its TUIs in a daemon. 0.155 does not.
func firstDaemonVersion() native.Version { return native.Version{0, 160} }

// permissionArgs are the options for what Codex may do without approval: as requested, or as in the session's last turn.
func permissionArgs(asked launch.Permissions, had *discover.Session) ([]string, error) {
	switch asked {
	case launch.PermissionsEdit:
		return []string{"-s", workspaceWrite}, nil
	case launch.PermissionsFull:
		return []string{"--dangerously-bypass-approvals-and-sandbox"}, nil
	}
	if had == nil {
		return nil, nil
	}
	return storedPermissionArgs(had)
}

// Codex's sandbox modes.
const (
	readOnly       = "read-only"
	workspaceWrite = "workspace-write"
	fullAccess     = "danger-full-access"
)

// storedPermissionArgs are the options that give a session the permissions of its last turn, or fewer. A headless run never asks
// for approval, so it gains nothing where the user was asked (approval on-request, on-failure). The exception is "untrusted", where
// only reading went unasked: such a session is resumed read-only.
func storedPermissionArgs(s *discover.Session) ([]string, error) {
	profile, sandbox := sessionFact[string](s, "permissionProfile"), sessionFact[string](s, "sandbox")
	switch {
	case sessionFact[string](s, "approval") == "untrusted":
		sandbox = readOnly
	case profile != "" && !strings.HasPrefix(profile, ":"): // the user's own profile, which may allow less than the recorded sandbox
		return []string{"-c", "default_permissions=" + tomlString(profile)}, nil
	}
	switch sandbox {
	case "": // the session never had a turn
		return nil, nil
	case readOnly, fullAccess:
		return []string{"-s", sandbox}, nil
	case ":" + readOnly, ":" + fullAccess: // built-in profiles, in settings that no turn has run with yet
		return []string{"-s", sandbox[1:]}, nil
	case workspaceWrite, ":workspace":
		return []string{"-s", workspaceWrite, "-c", "sandbox_workspace_write=" + workspaceTOML(sessionFact[workspaceAccess](s, "workspace"))}, nil
	}
	return nil, unsupported(fmt.Sprintf("cannot restore the permissions of the session (%s): use --permissions edit or full", sandbox))
}

// workspaceTOML writes all settings, so that the configuration file adds nothing.
func workspaceTOML(w workspaceAccess) string {
	roots := make([]string, len(w.WritableRoots))
	for i, root := range w.WritableRoots {
		roots[i] = tomlString(root)
	}
	return fmt.Sprintf("{network_access=%t,writable_roots=[%s],exclude_tmpdir_env_var=%t,exclude_slash_tmp=%t}",
		w.Network, strings.Join(roots, ","), w.ExcludeTmpdir, w.ExcludeSlashTmp)
}

// tomlString quotes a string. TOML has all the escapes of JSON.
func tomlString(s string) string {
	quoted, _ := json.Marshal(s) // never fails for a string
	return strings.ReplaceAll(string(quoted), "\x7f", `\u007f`)
}

// Hint implements [launch.Hinter]. Without permission options, the configuration and the trust in the directory decide whether Codex may
// change files. The session that has begun records it.
func (Adapter) Hint(r launch.Request, begun discover.Session) string {
	sandbox := sessionFact[string](&begun, "sandbox")
	switch {
	case r.Permissions == launch.PermissionsEdit || r.Permissions == launch.PermissionsFull || len(r.Args) > 0, sandbox != readOnly && sandbox != ":"+readOnly:
		return ""
	case r.Resume == nil:
		return "codex may only read here, by its own configuration; --permissions edit lets it change files"
	}
	return "the session may only read, as before; --permissions edit lets it change files"
}

// sessionFact is a fact in the session's Meta, the zero value if there is none of that name.
func sessionFact[T any](s *discover.Session, key string) T {
	value, _ := s.Meta.Get(key).(T)
	return value
}
