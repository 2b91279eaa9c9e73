package debian

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// file is a package file of the archive, as apt names it: NAME_VERSION_ARCHITECTURE.deb.
type file struct{ name, version, architecture string }

// upstream is the version without Debian's epoch and revision.
func (f file) upstream() string {
	version := f.version
	if _, rest, ok := strings.Cut(version, ":"); ok {
		version = rest
	}
	if i := strings.LastIndexByte(version, '-'); i >= 0 {
		version = version[:i]
	}
	return version
}

// fetch unpacks packages, and those that they need, into a folder. Options are apt's own.
func fetch(ctx context.Context, dir string, packages []Package, options ...string) error {
	files, err := needed(ctx, packages, options)
	if err != nil && os.Geteuid() == 0 { // the lists were never read, or are too old
		if _, err := run(ctx, dir, "apt-get", "update", "-qq"); err != nil {
			return err
		}
		files, err = needed(ctx, packages, options)
	}
	if err != nil {
		return err
	}
	downloads := filepath.Join(dir, ".downloads")
	if err := os.Mkdir(downloads, 0o755); err != nil {
		return err
	}
	// Root need not become apt's own user, who may not write here.
	args := []string{"download", "-qq", "-o", "APT::Sandbox::User="}
	for _, f := range files {
		args = append(args, f.name+":"+f.architecture+"="+f.version)
	}
	if _, err := run(ctx, downloads, "apt-get", args...); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(downloads, "*.deb"))
	if err != nil {
		return err
	}
	for _, deb := range found {
		if _, err := run(ctx, dir, "dpkg", "-x", deb, "."); err != nil {
			return err
		}
	}
	return os.RemoveAll(downloads)
}

// needed names the packages, and those of their dependencies that apt finds missing. The packages themselves must have the versions
// that are asked for.
func needed(ctx context.Context, packages []Package, options []string) ([]file, error) {
	args := append([]string{"install", "--reinstall", "--no-install-recommends", "--print-uris", "-qq", "-y"}, options...)
	versions := map[string][]string{}
	for _, p := range packages {
		args = append(args, p.Name)
		versions[p.Name] = nil
	}
	out, err := run(ctx, "", "apt-get", args...)
	if err != nil {
		return nil, err
	}
	var files []file
	for line := range strings.Lines(out) { // 'URI' FILE SIZE HASH
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		parts := strings.Split(strings.TrimSuffix(fields[1], ".deb"), "_")
		if len(parts) != 3 {
			return nil, fmt.Errorf("apt-get names a file %q", fields[1])
		}
		f := file{parts[0], strings.ReplaceAll(parts[1], "%3a", ":"), parts[2]}
		files = append(files, f)
		if have, ok := versions[f.name]; ok {
			versions[f.name] = append(have, f.upstream())
		}
	}
	for _, p := range packages {
		if have := versions[p.Name]; len(have) != 1 || have[0] != p.Version {
			return nil, fmt.Errorf("the archive has %s in version %q, the tests need %s", p.Name, have, p.Version)
		}
	}
	return files, nil
}

// run runs a command in English, in a directory, and returns what it prints on stdout.
func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, stderr.String())
	}
	return string(out), nil
}
