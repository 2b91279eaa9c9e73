package proc

import "slices"

// Facts is one process of a made-up table: what the kernel would tell of it.
type Facts struct {
	Process
	Arguments  []string
	WorkingDir string
	Environ    map[string]string
	Files      []OpenFile
	Ports      []int
	Namespaced []int
	Namespace  string
	// Elsewhere: it has a mount namespace of its own, in which only the paths of Same mean what they mean here.
	Elsewhere bool
	Same      []string
	// Apart are the other namespaces that it does not share with us.
	Apart Namespaces
	Used  Usage
	// Wrote is how many bytes it has written, and zero on a system that does not count them.
	Wrote int64
	// Real is the pid of the process that holds the other ends of connections in its place; see [Process.Answers].
	Real int
	// Err is returned by every on-demand question, as for another user's process.
	Err error
}

// FakeTable makes a table of the given processes; their on-demand facts are answered from memory. It is for tests.
func FakeTable(facts ...Facts) *Table {
	list := make([]Process, 0, len(facts))
	for _, f := range facts {
		p := f.Process
		p.src = f
		list = append(list, p)
	}
	return newTable(list)
}

func (f Facts) args(Process) ([]string, error) { return f.Arguments, f.Err }

func (f Facts) dir(p Process) (string, error) {
	if same, err := f.samePath(p, f.WorkingDir); err == nil && !same {
		return "", ErrElsewhere
	}
	return f.WorkingDir, f.Err
}

func (f Facts) env(_ Process, keys []string) (map[string]string, error) {
	out := map[string]string{}
	for _, k := range keys {
		if v, ok := f.Environ[k]; ok {
			out[k] = v
		}
	}
	return out, f.Err
}

func (f Facts) openFiles(_ Process, match func(string) bool) ([]OpenFile, error) {
	var out []OpenFile
	for _, o := range f.Files {
		if match(o.Path) {
			out = append(out, o)
		}
	}
	return out, f.Err
}

func (f Facts) listenPorts(Process, []string, listeners) ([]int, error) { return f.Ports, f.Err }

func (f Facts) pidNamespace(Process) (string, error) { return f.Namespace, f.Err }

func (f Facts) sharesRoot(Process) (bool, error) { return !f.Elsewhere, f.Err }

func (f Facts) samePath(_ Process, path string) (bool, error) {
	return !f.Elsewhere || slices.Contains(f.Same, path), f.Err
}

func (f Facts) standing(p Process) (Credentials, error) {
	s := Credentials{p.UID, f.Namespaced, f.Apart}
	if f.Namespaced == nil {
		s.PIDs = []int{p.ID.PID}
	}
	if f.Elsewhere {
		s.Apart |= MountNamespace
	}
	if len(f.Namespaced) > 1 {
		s.Apart |= ProcessNamespace
	}
	return s, f.Err
}

func (f Facts) usage(Process) (Usage, error) {
	if f.Err != nil {
		return Usage{}, f.Err
	}
	return f.Used, nil
}

func (f Facts) holder(_ Process, c connection) (holder, error) {
	real, err := Inspect(f.Real)
	if err != nil {
		return byNobody, err
	}
	return real.source().holder(real, c)
}

func (f Facts) written(Process) (int64, error) {
	if f.Err == nil && f.Wrote == 0 {
		return 0, ErrUnsupported
	}
	return f.Wrote, f.Err
}
