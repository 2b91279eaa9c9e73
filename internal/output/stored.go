package output

import (
	"fmt"
	"slices"
)

// StoredResult is the JSON object of one session that rm, archive or unarchive was given.
type StoredResult struct {
	// Host is the machine of the session; absent for this one.
	Host    string  `json:"host,omitempty"`
	ID      *string `json:"id"`
	Adapter string  `json:"adapter"`
	// Action is rm, archive or unarchive; Result what became of it.
	Action string `json:"action"`
	Result string `json:"result"`
	// Message says why it was refused, is not supported or failed.
	Message string `json:"message,omitempty"`
	// Command is the agent's own command, which was run or would be.
	Command []string `json:"command,omitempty"`
	// Session is the session as it is now; absent if it is gone, or nothing is done to it.
	Session *Session `json:"session,omitempty"`
}

// Check returns an error unless the object of another agentctl may be printed.
func (r *StoredResult) Check() error {
	results := []string{"done", "planned", "unneeded", "refused", "unsupported", "failed"}
	if !isAdapterName(r.Adapter) || !slices.Contains(results, r.Result) {
		return fmt.Errorf("no result of a session: adapter %q, result %q", r.Adapter, r.Result)
	}
	if r.Session != nil {
		return r.Session.Check()
	}
	return nil
}
