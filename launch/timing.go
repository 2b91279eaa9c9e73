package launch

import "time"

const (
	// turnObservation is how long an agent is watched after its turn is in storage, so that a turn that fails at once is
	// reported as failed.
	turnObservation = 250 * time.Millisecond
	// storeTimeout is how long the turn may take to appear in storage. An agent that stores nothing never has one.
	storeTimeout = time.Second
	// failureTimeout is how long an agent may take to end once its turn has failed, or to store the model's answer or refusal
	// (OpenCode 1.18.33, from the proof on: an unknown model 0.2 to 1.6 s, an HTTP error at once 0.6 to 2.2 s).
	failureTimeout = 5 * time.Second
	// timeoutFactor raises failureTimeout on a busy machine: an agent may also take this many times as long as its session took
	// to be proven. Likewise, storeTimeout is at least the time until the proof.
	timeoutFactor = 3
	// runGrace is how long a short command of an agent may take to end after its context has ended.
	runGrace = 2 * time.Second
)
