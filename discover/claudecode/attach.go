package claudecode

import (
	"context"

	"agentctl/discover"
	"agentctl/launch"
)

// AttachCommand implements [launch.Attacher]. `claude attach` shows a background session, which its daemon runs in a terminal without a
// screen (SEEN 2.1.197, 2.1.330). 2.1.112 has no such command and would begin a session with the prompt "attach".
func (Adapter) AttachCommand(_ context.Context, s discover.Session, host launch.Environment) (c launch.Command, ok bool, err error) {
	job := jobOf(s)
	if job == "" {
		return c, false, nil
	}
	program, err := findProgram(host)
	if err != nil {
		return c, true, err
	}
	return launch.Command{
		Args: []string{program, "attach", job}, Env: homeEnv(s.Home, host), Dir: s.Dir,
		Help: []string{program, "attach", "--help"}, HelpHas: "claude attach ",
	}, true, nil
}
