package host

import "time"

const (
	// answerTime is how long a host may take to connect, run the user's login shell and start agentctl. ssh itself gives up a connection after
	// ten seconds.
	answerTime = 30 * time.Second
	// installTime is how long this program may take to be copied to a host: at 40 KB a second.
	installTime = 10 * time.Minute
	// hangUpTime is how long a command on a host may take to end after it is told to: as long as one here takes at most.
	hangUpTime = 2 * time.Second
	// checkTime is how long a master on this machine may take to say that it is one.
	checkTime = time.Second
	// stderrTime is how long what ssh has printed may take to be read after its end: it is in the pipe already.
	stderrTime = 100 * time.Millisecond
)
