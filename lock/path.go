package lock

import (
	"path/filepath"
	"strings"
)

// Resolve returns an absolute path without symbolic links, as far as it exists. A relative one stays as it is.
func Resolve(path string) string {
	for dir := path; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, path[len(dir):])
		}
		if dir == "/" {
			break
		}
	}
	return path
}

// Within reports whether a path is dir or lies below it, by their names. Nothing lies in "".
func Within(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}
