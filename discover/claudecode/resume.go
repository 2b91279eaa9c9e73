package claudecode

import (
	"os"

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
	// By its ID, a session is found up to 2.1.197 only from the directory that it began in. 2.1.224 finds it from anywhere, but
	// takes the project's settings from the current directory.
	session, project := c.Resume.ID, c.projectDir()
	switch {
	case c.leavesProject():
		session = c.Resume.Path
	case project != "":
		spec.Dir = project
	}
	spec.Args = append(spec.Args, "--resume", session)
	if c.Fork {
		spec.Args = append(spec.Args, "--fork-session", "--session-id", spec.ID)
		return
	}
	spec.ID, spec.Resumed = c.Resume.ID, true
}

// projectDir returns the directory that a resumed session began in, if it works in another one by now; else "".
func (c argsBuilder) projectDir() string {
	dir, _ := c.Resume.Meta.Get(dirMeta).(string)
	return dir
}

// leavesProject reports whether a session is continued in another directory than the one that it began in, which the user may
// have moved. Then it is named by the path of its transcript: new records follow in that file, with the new directory, and a
// fork is stored in the new directory's project (SEEN 2.1.197-2.1.330).
func (c argsBuilder) leavesProject() bool {
	if c.Resume == nil || c.Resume.Path == "" {
		return false
	}
	project := c.projectDir()
	return c.Moved || project != "" && !isDir(project)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkMove returns an error for a version that may not continue the session itself, but a copy of it, under the same ID, in the new
// directory's project. 2.1.112 does that, 2.1.197 does not.
func (c argsBuilder) checkMove() error {
	if !c.leavesProject() || c.Fork || !c.version.Before(native.Version{2, 1, 197}) {
		return nil
	}
	return c.unsupported("%s may not continue a session in another directory, but a copy with the same ID: update Claude Code, or use --fork", c.version)
}

// homeEnv returns the variable that leads to this config folder, if the environment leads to another one.
func homeEnv(home string, host launch.Environment) []string {
	if home == "" || discover.RealPath(home) == discover.RealPath(homeVariables().Dir(host.Getenv)) {
		return nil
	}
	return []string{configKey + "=" + home}
}

// model returns the requested model, else the one that a resumed session had if ANTHROPIC_MODEL is set: Claude Code does not continue
// with it then. Storage has the name that the API answers with, which providers other than Anthropic do not accept.
func (c argsBuilder) model() string {
	if c.Model != "" || c.Resume == nil || c.host.Getenv("ANTHROPIC_MODEL") == "" {
		return c.Model
	}
	for _, provider := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		if c.host.Getenv(provider) != "" {
			return ""
		}
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
