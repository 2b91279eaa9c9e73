package stop

import "time"

const (
	// minPollInterval and maxPollInterval bound the time between two reads of a session that was asked to end.
	minPollInterval = 50 * time.Millisecond
	maxPollInterval = 500 * time.Millisecond
	// toolGracePeriod is how long tools may take to end after SIGTERM before they are killed.
	toolGracePeriod = 2 * time.Second
	// maxToolScans limits how often tools are searched and ended. A process that starts its successor whenever it is ended
	// must not keep us busy forever.
	maxToolScans = 20
	// killTimeout is how long the kernel may take to end a killed process: one that waits for a disk takes as long as that
	// does.
	killTimeout = 5 * time.Second
	// finalReadTimeout bounds the last read of the state after the caller's context has ended.
	finalReadTimeout = 2 * time.Second
)
