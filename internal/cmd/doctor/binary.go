package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/internal/cmdutil"
)

// binary is a program that is found in PATH.
type binary struct {
	Path     string `json:"path"`
	RealPath string `json:"realPath,omitempty"`
	// Version is read from the installed files; the program is not run.
	Version string `json:"version,omitempty"`
}

// binaries finds an agent's programs in PATH, the one that a shell would run first. A file with two names counts once.
func binaries(f cmdutil.Factory, a discover.Adapter) []binary {
	list := []binary{}
	if a.Program() == "" {
		return list
	}
	seen := map[string]bool{}
	for _, dir := range filepath.SplitList(f.Getenv("PATH")) {
		path := filepath.Join(dir, a.Program())
		info, err := os.Stat(path)
		if !filepath.IsAbs(path) || err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		b := binary{Path: path, Version: installedVersion(real)}
		if real != path {
			b.RealPath = real
		}
		list = append(list, b)
	}
	return list
}

// installedVersion reads the version from an npm package around the program, or from a path that ends in it, as native
// installers make them (…/versions/2.1.197); "" if there is neither.
func installedVersion(path string) string {
	if name := filepath.Base(path); isVersion(name) {
		return name
	}
	const depth = 4 // bin/x, vendor/arch/bin/x
	dir := filepath.Dir(path)
	for range depth {
		if v := packageVersion(filepath.Join(dir, "package.json")); v != "" {
			return v
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

func packageVersion(path string) string {
	const longest = 1 << 20 // bytes; real ones have a few thousand
	text, err := fsread.ReadFile(path, longest)
	if err != nil {
		return ""
	}
	var pkg struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(text, &pkg) != nil || !isVersion(pkg.Version) {
		return ""
	}
	return pkg.Version
}

// isVersion reports whether s begins like 1.2.3.
func isVersion(s string) bool {
	core, _, _ := strings.Cut(s, "-")
	parts := strings.Split(core, ".")
	for _, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return len(parts) == 3
}
