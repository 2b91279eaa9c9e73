package proc

// Namespaces is a set of kinds of namespaces (Linux; other systems have none).
type Namespaces uint8

// The kinds that decide what a fact about a process means to us.
const (
	// UserNamespace decides what user IDs mean.
	UserNamespace Namespaces = 1 << iota
	// PIDNamespace decides what pids mean.
	PIDNamespace
	// MountNamespace decides what paths mean. A process with another root directory than ours counts as in another one.
	MountNamespace
	// NetworkNamespace decides what ports mean.
	NetworkNamespace
)

// Credentials says whose a process is, and how far what it says of users, pids, paths and ports means the same to us.
type Credentials struct {
	// UID is the effective user, read together with the namespaces.
	UID int
	// PIDs are those of the process in each pid namespace from ours to its own; see [Process.NamespacePIDs].
	PIDs []int
	// Unshared are the namespaces that the process does not share with us, and those of which that cannot be told.
	Unshared Namespaces
}

// Credentials asks the kernel whose the process is and which namespaces it is in. Where it is not allowed to tell the
// namespaces, all of them count as others.
func (p Process) Credentials() (Credentials, error) { return p.backend().credentials(p) }
