package launch

// StoreAction is what is done to a stored session.
type StoreAction string

// The actions.
const (
	ActionRemove    StoreAction = "rm"
	ActionArchive   StoreAction = "archive"
	ActionUnarchive StoreAction = "unarchive"
)
