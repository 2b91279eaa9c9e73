package launch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
)

// Environment is the environment that an agent runs in.
type Environment struct {
	// Environ has its variables, as KEY=VALUE. The last one with a key counts.
	Environ []string
}

// NewEnvironment makes the environment of an agent from that of this process: without the environment markers of an agent that
// this process runs inside of, and with the variables of set.
func NewEnvironment(environ []string, agents []discover.Adapter, set ...string) Environment {
	var markers []string
	for _, a := range agents {
		markers = append(markers, AdapterOf(agents, a.Name()).ScrubbedEnv()...)
	}
	kept := slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		key, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(markers, func(m string) bool { return matchesPattern(m, key) })
	})
	return Environment{append(kept, set...)}
}

func matchesPattern(marker, key string) bool {
	if prefix, open := strings.CutSuffix(marker, "*"); open {
		return strings.HasPrefix(key, prefix)
	}
	return key == marker
}

// Getenv returns a variable of the environment, "" if it is not set.
func (h Environment) Getenv(key string) string {
	for _, variable := range slices.Backward(h.Environ) {
		if value, ok := strings.CutPrefix(variable, key+"="); ok {
			return value
		}
	}
	return ""
}

// LookPath finds a program as a shell would, and returns its absolute path. Error: [fs.ErrNotExist].
func (h Environment) LookPath(program string) (string, error) {
	for _, dir := range filepath.SplitList(h.Getenv("PATH")) {
		path, err := filepath.Abs(filepath.Join(dir, program))
		if err != nil || dir == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &fs.PathError{Op: "find in PATH", Path: program, Err: fs.ErrNotExist}
}
