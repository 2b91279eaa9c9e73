package host

import "time"

const (
	// answerTime is how long a host may take to connect, run the user's login shell and start agentctl. ssh itself gives up a connection after
	// ten seconds.
	answerTime = 30 * time.Second
	// hangUpTime is how long a command on a host may take to end after it is told to: as long as one here takes at most.
	hangUpTime = 2 * time.Second
	// stderrTime is how long what ssh has printed may take to be read after its end: it is in the pipe already.
	stderrTime = 100 * time.Millisecond
)
