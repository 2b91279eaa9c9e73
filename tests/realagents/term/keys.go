package term

// Key is what a terminal sends for a key.
type Key string

// Keys that agents' interfaces know.
const (
	Enter  Key = "\r"
	Escape Key = "\x1b"
	Tab    Key = "\t"
)
