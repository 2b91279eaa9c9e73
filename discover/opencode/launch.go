package opencode

import (
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/launch"
)

// Spec implements [launch.Adapter]: `opencode run` on a prompt from its standard input, or the terminal interface on a
// session. The ID of a new session is not known before: the agent makes it.
//
// The directory is told by PWD, which the agent believes (SEEN 1.1.65, 1.18.33), so that --dir, which not all versions
// have, is not needed.
func (Adapter) Spec(r launch.Request, host launch.Environment) (launch.Spec, error) {
	p, err := findInstallation(host)
	if err != nil {
		return launch.Spec{}, err
	}
	full, err := p.skipApprovals(r)
	if err != nil {
		return launch.Spec{}, err
	}
	spec := launch.Spec{Args: []string{p.path}, Dir: r.Dir, Stdin: r.Prompt}
	if !r.Interactive {
		spec.Args = append(spec.Args, "run", "--format", "json")
	}
	if r.Resume != nil {
		if err := p.resume(&spec, r, host); err != nil {
			return launch.Spec{}, err
		}
	}
	for _, o := range []struct{ name, value string }{
		{"--title", r.Name}, {"--model", modelOf(r)}, {"--agent", metaOf(r, "agent")}, {"--variant", variantOf(r)},
	} {
		if o.value != "" {
			spec.Args = append(spec.Args, o.name+"="+o.value) // a value may begin with -
		}
	}
	spec.Args = append(append(spec.Args, full...), r.Args...)
	spec.Env = append(spec.Env, permissionEnv(r, host)...)
	if r.Permissions == launch.PermissionsOwn && !r.Interactive {
		spec.Hint = "headless OpenCode denies whatever it would have to ask about; --permissions edit or full lets it"
	}
	return spec, nil
}

// ScrubbedEnv implements [launch.Adapter]: what the agent sets for the processes it starts (SEEN: AGENT and OPENCODE by all,
// OPENCODE_PID since 1.2.27, OPENCODE_RUN_ID by 1.14 and 1.15).
func (Adapter) ScrubbedEnv() []string {
	return []string{"AGENT", "OPENCODE", "OPENCODE_PID", "OPENCODE_RUN_ID", "OPENCODE_PROCESS_ROLE"}
}

// resume makes the spec one of a further turn. What `run -s` forgets, the model where the configuration names one for
// the agent, the agent and its variant, is told again (READ 1.1.65, 1.18.33).
func (p installation) resume(spec *launch.Spec, r launch.Request, host launch.Environment) error {
	s := r.Resume
	if s.Meta.Get("legacy") == true && !p.version.Before(native.Version{1, 2}) {
		return unsupported("of version " + p.versionText() + " cannot go on with a session that an older one keeps in JSON files; " +
			"versions before 1.2 can, and 1.2 to 1.15 take such sessions over at their first start")
	}
	spec.Args = append(spec.Args, "--session="+s.ID)
	spec.Resumed = true // a copy has earlier turns, too
	if r.Fork {
		spec.Args = append(spec.Args, "--fork")
	} else {
		spec.ID = s.ID
	}
	spec.Env = append(spec.Env, storeEnv(s, host)...)
	return nil
}

// storeEnv are the variables that lead the agent to the store that the session is in, where it would not find it by
// itself.
func storeEnv(s *discover.Session, host launch.Environment) []string {
	var env []string
	dir, base := filepath.Split(s.Home)
	if home := dataDir(host.Getenv(dataKey), host.Getenv(homeKey)); base == "opencode" && discover.RealPath(home) != discover.RealPath(s.Home) {
		env = append(env, dataKey+"="+filepath.Clean(dir))
	}
	if filepath.Ext(s.Path) != ".db" {
		return env
	}
	usual := filepath.Join(s.Home, "opencode.db")
	if name := host.Getenv(dbKey); name != "" {
		usual = databasePath(s.Home, name)
	}
	if discover.RealPath(usual) != discover.RealPath(s.Path) {
		env = append(env, dbKey+"="+s.Path)
	}
	return env
}

// modelOf is the model to ask for: the one requested, else the session's last one.
func modelOf(r launch.Request) string {
	if r.Model == "" && r.Resume != nil {
		return r.Resume.Model
	}
	return r.Model
}

// variantOf is the variant of the session's own model; another model has others. The terminal interface knows it from
// the session, and has no option for it.
func variantOf(r launch.Request) string {
	if r.Model != "" || r.Interactive {
		return ""
	}
	return metaOf(r, "variant")
}

func metaOf(r launch.Request, key string) string {
	if r.Resume == nil {
		return ""
	}
	value, _ := r.Resume.Meta.Get(key).(string)
	return value
}

func unsupported(what string) error {
	return &launch.UnsupportedError{Agent: agentName, What: what}
}

// ModelFamilies implements [launch.ModelFamilies]: of the models it is used with, Anthropic's have families.
func (Adapter) ModelFamilies() []string { return []string{"opus", "sonnet", "haiku"} }
