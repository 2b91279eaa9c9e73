package watch

import "time"

// All times of the package, each with its reason.
const (
	// pollInterval is the time between two polls, and the shortest between two snapshots. A person takes a quarter of a
	// second for at once.
	pollInterval = 250 * time.Millisecond
	// costShare bounds the processor time that snapshots take, to one part in so many: half a percent, so that with the
	// polls it stays below one.
	costShare = 200
	// maxDelay is the most that a change waits for its snapshot, whatever snapshots cost, where somebody reads along or is
	// told of events: those are to be told within a second.
	maxDelay = 500 * time.Millisecond
	// idleInterval is when to take a snapshot though no change is seen: what no file and no process shows is seen then.
	idleInterval = 10 * time.Second

	// stopDebounce is how long a stop is not believed while the process lives; see [discover.StopDebounce].
	stopDebounce = 500 * time.Millisecond
	// claimDelay is how much later than what it stores an agent may show which process runs it.
	claimDelay = 2 * time.Second
	// storedHorizon is for how long stored sessions that were never seen live are searched for: a store may be away for a
	// while, or written late.
	storedHorizon = 10 * time.Minute
	// nameDelay is how long there is no event of a process whose session is not known: mostly its session has a name soon.
	nameDelay = 500 * time.Millisecond
	// parentDelay is how long there is no event of an empty session that may be a sub-agent's: its first record says so. That
	// it has begun may be seen sooner by its ID, or by an empty file.
	parentDelay = 300 * time.Millisecond

	// launchMin and launchMax are the shortest and the longest time between two snapshots while an agent starts: its session
	// is to be proven soon.
	launchMin = 15 * time.Millisecond
	launchMax = 200 * time.Millisecond
	// launchShare is how many times as long as a snapshot took the pause after it is: snapshots must not take from the
	// agent the processor that it starts with, least of all on a busy machine, where a snapshot is slow.
	launchShare = 8

	// TurnEndDelay is how long after a live agent shows that its turn is over the storage may take to say how it ended.
	TurnEndDelay = time.Second
)

// afterChange returns the times after the last change at which snapshots are due. The later two are for sessions whose
// silence is the evidence: an agent that records a tool call, but not that it asks for permission first, counts as waiting
// after a second without a record. The second one also comes after [TurnEndDelay].
func afterChange() [3]time.Duration {
	return [...]time.Duration{0, 1200 * time.Millisecond, 5 * time.Second}
}
