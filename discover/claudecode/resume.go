package claudecode

import (
	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/launch"
)

// addSession sets which session runs, in which home and in which directory.
func (c argsBuilder) addSession(spec *launch.Spec) {
	if spec.ID = newUUID(); c.Resume == nil {
		spec.Args = append(spec.Args, "--session-id", spec.ID)
		return
	}
	spec.Env = homeEnv(c.Resume.Home, c.host)
	// Up to 2.1.197 a session is found only from the directory that it began in. 2.1.329 finds it from anywhere, but takes
	// the project's settings from the current directory.
	if dir, ok := c.Resume.Meta.Get(dirMeta).(string); ok {
		spec.Dir = dir
	}
	spec.Args = append(spec.Args, "--resume", c.Resume.ID)
	if c.Fork {
		spec.Args = append(spec.Args, "--fork-session", "--session-id", spec.ID)
		return
	}
	spec.ID, spec.Resumed = c.Resume.ID, true
}

// homeEnv returns the variable that leads to this config folder, if the environment leads to another one.
func homeEnv(home string, host launch.Environment) []string {
	if home == "" || discover.RealPath(home) == discover.RealPath(configDir(host.Getenv(configKey), host.Getenv(homeKey))) {
		return nil
	}
	return []string{configKey + "=" + home}
}

// model returns the requested model, else the one that a resumed session had if Claude Code does not continue with it
// itself: before 2.1.113 (2.1.112 forgets it, 2.1.197 does not), or if ANTHROPIC_MODEL is set. Storage has the name that
// the API answers with, which providers other than Anthropic do not accept.
func (c argsBuilder) model() string {
	if c.Model != "" || c.Resume == nil {
		return c.Model
	}
	forgets := c.version.Before(native.Version{2, 1, 113}) || c.host.Getenv("ANTHROPIC_MODEL") != ""
	for _, provider := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		forgets = forgets && c.host.Getenv(provider) == ""
	}
	if !forgets {
		return ""
	}
	return c.Resume.Model
}

// formerPermissionMode returns the permission mode that a resumed session had. Claude Code does not keep it: it takes the
// mode of its settings, which may allow more (SEEN 2.1.75–2.1.329).
func (c argsBuilder) formerPermissionMode() string {
	if c.Resume == nil || c.hasPermissionArgs() {
		return ""
	}
	mode, _ := c.Resume.Meta.Get(modeMeta).(string)
	return mode
}
