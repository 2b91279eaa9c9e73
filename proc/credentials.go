package proc

// Namespaces is a set of kinds of namespaces (Linux; other systems have none).
type Namespaces uint8

// Each kind of namespace gives a meaning to one kind of fact about a process.
const (
	// UserNamespace: user IDs.
	UserNamespace Namespaces = 1 << iota
	// PIDNamespace: pids.
	PIDNamespace
	// MountNamespace: paths. A process with another root directory than ours counts as in another mount namespace.
	MountNamespace
	// NetworkNamespace: ports.
	NetworkNamespace
)

// Credentials are the user of a process and its namespaces: whether its user IDs, pids, paths and ports mean the same
// here.
type Credentials struct {
	// UID is the effective user, read together with the namespaces.
	UID int
	// PIDs are its pids in each pid namespace from ours to its own; see [Process.NamespacePIDs].
	PIDs []int
	// Unshared are the namespaces that the process does not share with us, and those for which that is unknown.
	Unshared Namespaces
}

// Credentials reads the user and the namespaces of the process. If the namespaces may not be read, all of them count as
// unshared.
func (p Process) Credentials() (Credentials, error) { return p.backend().credentials(p) }
