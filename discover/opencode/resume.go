package opencode

import (
	"path/filepath"

	"agentctl/discover"
	"agentctl/launch"
)

// resume changes the spec so that the agent resumes the session, or a copy of it.
func resume(spec *launch.Spec, r launch.Request, host launch.Environment) error {
	s := r.Resume
	if s.Meta.Get("legacy") == true {
		return unsupported("cannot go on with a session in JSON files of older versions; versions up to 1.15 take such sessions over at their first start")
	}
	// The database decides where a session runs. If that directory is gone, the turn fails, also in a copy (SEEN 1.18.33). If it exists, the
	// turn runs there, and the process never ends.
	if r.Moved {
		return unsupported("continues a session only in its own directory; to move the session, run in the new one: " +
			"opencode export " + s.ID + " > FILE && opencode import FILE")
	}
	spec.Args = append(spec.Args, "--session="+s.ID)
	spec.Resumed = true // also for a copy, which has earlier turns too
	if r.Fork {
		spec.Args = append(spec.Args, "--fork")
	} else {
		spec.ID = s.ID
	}
	spec.Env = append(spec.Env, storeEnv(s, host)...)
	return nil
}

// storeEnv returns the variables that lead the agent to the session's store, if it would use another one.
func storeEnv(s *discover.Session, host launch.Environment) []string {
	var env []string
	dir, base := filepath.Split(s.Home)
	if home := homeVariables().Dir(host.Getenv); base == "opencode" && discover.RealPath(home) != discover.RealPath(s.Home) {
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

// modelOf returns the requested model, else the session's last one. `run -s` forgets the model if the configuration names one for the
// agent, and it forgets the agent and the variant (READ 1.18.33).
func modelOf(r launch.Request) string {
	if r.Model == "" && r.Resume != nil {
		return r.Resume.Model
	}
	return r.Model
}

// variantOf returns the variant of the session's own model; another model has others. The terminal interface takes it from the session,
// and has no option for it.
func variantOf(r launch.Request) string {
	if r.Model != "" || r.Interactive {
		return ""
	}
	return sessionFact(r, "variant")
}

// sessionFact returns a text in the Meta of the session to resume; "" if there is none.
func sessionFact(r launch.Request, key string) string {
	if r.Resume == nil {
		return ""
	}
	value, _ := r.Resume.Meta.Get(key).(string)
	return value
}
