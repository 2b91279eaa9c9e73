package discover

import "agentctl/proc/multiplexer"

// TTY returns the controlling terminal of the first of the session's processes that has one; "" if none has, or if its path means
// something else here.
func (s Session) TTY() string {
	if s.Host != "" {
		return "" // its pids are another machine's
	}
	for _, p := range s.Processes {
		if path, err := p.TTY(); err == nil && path != "" {
			return path
		}
	}
	return ""
}

// Pane returns the pane of a terminal multiplexer, or the window of a terminal emulator, in which the first of the session's
// processes with a terminal runs; nil if that is not known. The multiplexer is not asked.
func (s Session) Pane() *multiplexer.Pane {
	if s.Host != "" {
		return nil
	}
	for _, p := range s.Processes {
		if path, err := p.TTY(); err == nil && path != "" {
			return multiplexer.Find(s.table, p)
		}
	}
	return nil
}
