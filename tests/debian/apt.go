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

// fetch unpacks a package, and those that it needs and the machine does not have, into a folder.
func fetch(ctx context.Context, p Package, dir string) error {
	files, err := missing(ctx, p)
	if err != nil && os.Geteuid() == 0 { // the lists were never read, or are too old
		if _, err := run(ctx, dir, "apt-get", "update", "-qq"); err != nil {
			return err
		}
		files, err = missing(ctx, p)
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

// missing names the package, and those of its dependencies that the machine does not have. The package itself must have the version
// that is asked for.
func missing(ctx context.Context, p Package) ([]file, error) {
	out, err := run(ctx, "", "apt-get", "install", "--reinstall", "--no-install-recommends", "--print-uris", "-qq", "-y", p.Name)
	if err != nil {
		return nil, err
	}
	var files []file
	var have []string
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
		if f.name == p.Name {
			have = append(have, f.upstream())
		}
	}
	if len(have) != 1 || have[0] != p.Version {
		return nil, fmt.Errorf("the archive has %s in version %q, the tests need %s", p.Name, have, p.Version)
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
