package attach

import "agentctl/proc/multiplexer"

// wayZellij focuses the pane if this process runs in the same session (zellij 0.44 and newer; READ zellij-utils 0.44.1, CliAction). Else
// it attaches this terminal to the session, which shows what was shown there last.
func wayZellij(g Guide, to multiplexer.Pane, inside bool) (w Way, err error) {
	if inside {
		line, err := g.program("zellij", "--session="+to.Session, "action", "focus-pane-id", "terminal_"+to.Pane)
		return Way{Select: [][]string{line}}, err
	}
	w.Attach, err = g.program("zellij", "attach", to.Session)
	return w, err
}
