package discover

import "path/filepath"

// RealPath returns path without symbolic links, if there is something of that name; else path, cleaned.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
