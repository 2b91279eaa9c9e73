package watch

import "time"

// All times of the package, each with its reason.
const (
	// pollInterval is the time between two polls, and the shortest between two snapshots. People perceive a quarter of a second
	// as immediate.
	pollInterval = 250 * time.Millisecond
	// costShare bounds the time that snapshots of up to maxDelay/costShare take, 2.5 ms, to one part in so many: half a
	// percent, so that with the polls it stays below one.
	costShare = 200
	// maxDelay is the longest time from a change to its snapshot, whatever snapshots cost: events are due within a second.
	maxDelay = 500 * time.Millisecond
	// idleInterval is the longest time between two snapshots, for changes that no file and no process shows.
	idleInterval = 10 * time.Second

	// stopDebounce is how long a stop must last to count while the process lives: what an agent shows may be unreadable for a moment,
	// and an agent that ends releases its session before it exits (Codex 0.169: some milliseconds earlier, more on a busy machine).
	stopDebounce = 500 * time.Millisecond
	// claimDelay is how much later than what it stores an agent may show which process runs it.
	claimDelay = 2 * time.Second
	// storedHorizon is how far back the stores are searched for sessions that were never seen live: a store may be unavailable
	// for a while, or written late.
	storedHorizon = 10 * time.Minute
	// nameDelay is how long events of a process are held back while its session's ID is not known: mostly it is known soon.
	nameDelay = 500 * time.Millisecond
	// parentDelay is how long events of an empty session are held back that may be a sub-agent's: its first record tells. Its
	// ID, or an empty file, may be seen before that.
	parentDelay = 300 * time.Millisecond

	// launchMin and launchMax are the shortest and the longest time between two snapshots while an agent starts, so that its
	// session is confirmed soon.
	launchMin = 15 * time.Millisecond
	launchMax = 200 * time.Millisecond
	// launchShare is the pause after a snapshot as a multiple of its duration: snapshots must leave the processor to the agent
	// that starts, most of all on a busy machine, where a snapshot is slow.
	launchShare = 8

	// TurnEndDelay is how long after a live agent shows that its turn is over the storage may take to say how it ended.
	TurnEndDelay = time.Second
)

// afterChange returns the times after the last change at which snapshots are due. The later two are for sessions where a
// pause is the evidence: an agent that records a tool call, but not that it asks for permission first, counts as waiting
// after a second without a record. The second one also comes after [TurnEndDelay].
func afterChange() [3]time.Duration {
	return [...]time.Duration{0, 1200 * time.Millisecond, 5 * time.Second}
}
