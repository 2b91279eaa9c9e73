package launch

import "agentctl/discover"

// StoreAction is what is done to a stored session.
type StoreAction string

// The actions.
const (
	ActionRemove    StoreAction = "rm"
	ActionArchive   StoreAction = "archive"
	ActionUnarchive StoreAction = "unarchive"
)

// StoreManager is implemented by adapters that know by which command of their agent a stored session is removed, archived or
// restored.
type StoreManager interface {
	// StoreCommand returns the command for a stopped session of a home that is ours. It starts nothing. Errors:
	// [*NotInstalledError]; [*UnsupportedError], which names the agent's own way.
	StoreCommand(StoreAction, discover.Session, Environment) (Command, error)
}
