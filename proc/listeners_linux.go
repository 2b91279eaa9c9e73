package proc

// listener is a TCP socket that listens.
type listener struct {
	port  int
	inode uint64
}
