package codex

import (
	"slices"

	"agentctl/launch"
)

// Spec starts `codex exec`, or Codex's terminal interface. exec reads the prompt from stdin where its argument is "-" (SEEN 0.104, 0.169,
// also with resume and fork).
func (Adapter) Spec(r launch.Request, host launch.Environment) (launch.Spec, error) {
	program, err := findInstallation(host)
	if err != nil {
		return launch.Spec{}, err
	}
	if r.Name != "" {
		return launch.Spec{}, unsupported("cannot name a session as it starts: leave the name out, and use /rename in its terminal interface")
	}
	spec := launch.Spec{Dir: r.Dir, Env: program.env}
	var session []string
	if r.Resume != nil {
		if session, err = resumeArgs(r, program); err != nil {
			return launch.Spec{}, err
		}
		spec.Env = slices.Concat(spec.Env, homeEnv(*r.Resume, host))
	}
	settings, err := settingsArgs(r, program)
	if err != nil {
		return launch.Spec{}, err
	}
	settings = append(settings, "-C", r.Dir)
	if r.Interactive {
		spec.Args = slices.Concat([]string{program.path}, session, r.Args, settings)
		return spec, nil
	}
	if spec.Resumed = r.Resume != nil && !r.Fork; spec.Resumed {
		spec.ID = r.Resume.ID
	}
	// The caller's arguments come first: the last of them may be an option that takes every word up to the next option.
	spec.Args = slices.Concat([]string{program.path, "exec"}, r.Args, settings, []string{"--json"}, session, []string{"-"})
	spec.Stdin = r.Prompt
	return spec, nil
}

func unsupported(what string) error {
	return &launch.UnsupportedError{Agent: agentName, What: what}
}
