package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	args := slices.Concat([]string{"download", "-qq"}, asRoot(), options)
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

// asRoot are apt's options for root, who need not become apt's own user: that one may not write into the cache.
func asRoot() []string { return []string{"-o", "APT::Sandbox::User="} }

// noneInstalled are apt's options that treat all packages as missing, so that it names every dependency.
func noneInstalled() []string { return []string{"-o", "Dir::State::status=/dev/null"} }

// optionsFor returns apt's options for packages of another release and all their dependencies. It reads the lists of that release into a
// folder, from the machine's mirror.
func optionsFor(ctx context.Context, release, folder string) ([]string, error) {
	from, err := mirror(ctx)
	if err != nil {
		return nil, err
	}
	sources, lists, cache := filepath.Join(folder, "sources.list"), filepath.Join(folder, "lists"), filepath.Join(folder, "cache")
	options := slices.Concat(asRoot(), noneInstalled(), []string{
		"-o", "Dir::Etc::sourcelist=" + sources, "-o", "Dir::Etc::sourceparts=/dev/null", "-o", "Dir::State::lists=" + lists, "-o", "Dir::Cache=" + cache,
	})
	err = errors.Join(
		os.MkdirAll(filepath.Join(lists, "partial"), 0o755), os.MkdirAll(filepath.Join(cache, "archives", "partial"), 0o755),
		os.WriteFile(sources, []byte("deb "+from+" "+release+" main\n"), 0o644),
	)
	if err == nil {
		_, err = run(ctx, folder, "apt-get", append([]string{"update", "-qq"}, options...)...)
	}
	return options, err
}

// mirror returns the address from which the machine gets its own release. Releases with a suffix are updates and security repairs.
func mirror(ctx context.Context) (string, error) {
	for updated := false; ; updated = true {
		out, err := run(ctx, "", "apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages")
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(out) {
			if fields := strings.Fields(line); len(fields) == 2 && !strings.Contains(fields[1], "-") {
				return fields[0], nil
			}
		}
		if updated || os.Geteuid() != 0 {
			return "", errors.New("apt-get indextargets names no release: run apt-get update as root")
		}
		if _, err := run(ctx, "", "apt-get", "update", "-qq"); err != nil { // they were never read
			return "", err
		}
	}
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
