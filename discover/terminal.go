package discover

import (
	"agentctl/proc"
	"agentctl/proc/multiplexer"
)

// TTY returns the controlling terminal of the first of the session's processes that has one; "" if none has, or if its path means
// something else here.
func (s Session) TTY() string {
	_, path := s.terminalProcess()
	return path
}

// Pane returns the pane of a terminal multiplexer, or the window of a terminal emulator, in which the first of the session's
// processes with a terminal runs; nil if that is not known. The multiplexer is not asked.
func (s Session) Pane() *multiplexer.Pane {
	p, path := s.terminalProcess()
	if path == "" {
		return nil
	}
	return multiplexer.Find(s.table, p)
}

// terminalProcess returns the first of the session's processes that has a terminal, and the path of that; "" if none has.
func (s Session) terminalProcess() (p proc.Process, path string) {
	if s.Host != "" {
		return p, "" // its pids are another machine's
	}
	for _, p := range s.AllProcesses() {
		if path, err := p.TTY(); err == nil && path != "" {
			return p, path
		}
	}
	return p, ""
}
