// Package facts names what is tried with each version of each agent: the columns of docs/support.md.
package facts

// ReleaseVariable is the environment variable that names the release for tests/realagents.
const ReleaseVariable = "AGENTCTL_TEST_SUPPORT"

// Fact is something that agentctl shows of an agent, or does with it.
type Fact struct {
	// Name is the title of the column.
	Name string
	// Meaning is what has to hold.
	Meaning string
}

// All are the facts, in the order of the columns. A test of tests/realagents tries each.
func All() []Fact {
	return []Fact{
		{"listed", "`list` has a headless run while its tool runs: with its own ID, the agent's own pid, `running`"},
		{"evidence", "how sure that is: `exact`, `strong` or `weak`"},
		{"current", "`current`, called by that tool, prints this ID"},
		{"messages", "`peek` shows the prompt, the tool call while it is pending, and the answer, each as it was given"},
		{"tokens", "the tokens are what the model counted for the answers, or what the agent states of the run"},
		{"outcome", "a run that has ended is `completed`; one that was killed is `interrupted`, in the next call"},
		{"error", "a run that the model's service refused has the outcome `error`"},
		{"launch", "`launch` prints the ID that the prompt is stored under, of a session that runs"},
		{"stop", "`stop` ends a run with its tool: no process is left"},
		{"resume", "`resume` with a message continues the stopped session under its ID"},
		{"idle", "a terminal that has answered is `idle`, with the process that runs the session"},
		{"waiting", "a terminal that asks for permission is `waiting` on the very command"},
		{"send", "`send` gives the idle session of a terminal a message, and returns once that is stored"},
		{"records", "no live session has records of kinds that agentctl does not know"},
	}
}

// The results of a fact that need no explanation; any other one is explained in docs/support.md.
const (
	Yes   = "yes"
	Exact = "exact"
)

// Seen is what was seen of one fact with one version.
type Seen struct {
	Agent, Version, Fact string
	// Result is [Yes] or "no", or the strength of the evidence.
	Result string
	// Why is what was seen instead.
	Why string `json:",omitempty"`
}
