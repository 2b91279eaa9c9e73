package launch

import "time"

const (
	// turnObservation is how long after its session is in storage the agent is watched: what fails at once is to be reported
	// as failed.
	turnObservation = 250 * time.Millisecond
	// storeTimeout is how long the turn may take to show in storage at all. An agent that stores nothing has none to show.
	storeTimeout = time.Second
	// failureTimeout is how long an agent may take to end once its turn has failed, and to have the model's answer or its refusal
	// (OpenCode 1.18.33, from the proof on: an unknown model 0.2 to 1.6 s, an HTTP error at once 0.6 to 2.2 s).
	failureTimeout = 5 * time.Second
	// timeoutFactor is how many times as long as until the proof an agent may take for that, where this is more: a machine that
	// is too busy for the one is for the other. To store its turn it may take as long as until the proof.
	timeoutFactor = 3
	// runGrace is how long a short command of an agent may take to end when nobody waits for it any more.
	runGrace = 2 * time.Second
)
