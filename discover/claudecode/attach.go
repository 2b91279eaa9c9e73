package claudecode

import (
	"context"

	"agentctl/discover"
	"agentctl/launch"
)

// AttachCommand implements [launch.Attacher]. `claude attach` shows a background session, which its daemon runs in a terminal that
// nobody sees (SEEN 2.1.197, 2.1.330). 2.1.112 has no such command and takes the word for a prompt, hence the question for help.
func (a Adapter) AttachCommand(_ context.Context, s discover.Session, host launch.Environment) (c launch.Command, ok bool, err error) {
	job := jobOf(s)
	if job == "" {
		return c, false, nil
	}
	program, err := host.LookPath(a.Program())
	if err != nil {
		return c, true, &launch.NotInstalledError{Agent: a.Name(), Program: a.Program()}
	}
	return launch.Command{
		Args: []string{program, "attach", job}, Env: homeEnv(s.Home, host), Dir: s.Dir,
		Help: []string{program, "attach", "--help"}, HelpHas: "claude attach ",
	}, true, nil
}
