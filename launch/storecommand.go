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
	StoreCommand(StoreAction, discover.Session, Environment) (StoreCommand, error)
}

// StoreCommand is a command of an agent.
type StoreCommand struct {
	// Args is the command line; Args[0] is the absolute path of the program. Env are variables that it needs besides.
	Args, Env []string
	// Dir is the directory that it runs in.
	Dir string
	// Help is the command line that prints the command's help. Versions that have the command print HelpHas.
	Help    []string
	HelpHas string
}
