package attach

import (
	"fmt"

	"agentctl/proc/multiplexer"
)

// screenDir is the variable with the directory of screen's sockets.
const screenDir = "SCREENDIR"

// wayScreen selects the window by the number that it began with: GNU Screen does not tell which terminal a window has (4.9.0). Sessions
// are found by the beginning of their names, hence the dot after the pid.
func wayScreen(g Guide, to multiplexer.Pane, inside bool) (w Way, err error) {
	session := fmt.Sprintf("%d.", to.Server.ID.PID)
	w.Unset = []string{screenDir}
	if to.Address != "" {
		w.Set = []string{screenDir + "=" + to.Address}
	}
	if inside {
		line, err := g.program("screen", "-S", session, "-X", "select", to.Window)
		w.Select = [][]string{line}
		return w, err
	}
	w.Attach, err = g.program("screen", "-x", session, "-p", to.Window)
	return w, err
}
