package opencode

import (
	"agentctl/launch"
)

// Spec implements [launch.Adapter]. It starts `opencode run` with the prompt on standard input, or the terminal interface. The ID of a new
// session is not known beforehand: the agent makes it.
//
// The agent takes its directory from PWD (SEEN 1.14.41, 1.18.33).
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
		if err := resume(&spec, r, host); err != nil {
			return launch.Spec{}, err
		}
	}
	for _, o := range []struct{ name, value string }{
		{"--title", r.Name}, {"--model", modelOf(r)}, {"--agent", sessionFact(r, "agent")}, {"--variant", variantOf(r)},
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

func unsupported(what string) error {
	return &launch.UnsupportedError{Agent: agentName, What: what}
}

// ModelFamilies implements [launch.ModelFamilies]. Of the models that OpenCode is used with, Anthropic's have families.
func (Adapter) ModelFamilies() []string { return []string{"opus", "sonnet", "haiku"} }
