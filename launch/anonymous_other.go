//go:build !linux

package launch

import "os"

// AnonymousFile makes a file whose name is taken away at once: it is gone when nobody has it open any more.
func AnonymousFile(what string) (*os.File, error) {
	f, err := os.CreateTemp("", "agent-"+what+"-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
