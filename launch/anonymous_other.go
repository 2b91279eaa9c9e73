//go:build !linux

package launch

import "os"

// AnonymousFile makes a file and removes its name at once. The kernel removes the file when no process has it open.
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
