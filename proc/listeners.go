package proc

// listener is a TCP socket that listens.
type listener struct {
	port  int
	inode uint64
}

// listeners asks for the listeners of our own network namespace. The processes of a table share one answer: each would ask
// for those of all the others as well.
type listeners func() ([]listener, error)
