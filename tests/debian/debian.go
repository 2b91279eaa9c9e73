// Package debian brings programs that tests need, in a pinned version, as Debian packages into a folder of the user's cache, and
// installs nothing: `apt-get download` fetches a package and those libraries and data of its dependencies that the machine does not
// have, and `dpkg -x` unpacks them. It takes no rights, and the network once.
//
//	zsh := debian.Package{Name: "zsh", Version: "5.9", Files: []string{"bin/zsh"}}
//	root, err := debian.Ensure(ctx, zsh)
//	cmd := exec.Command(root.Path("bin/zsh"), "-f")
//	cmd.Env = root.Environ(os.Environ())
//
// No maintainer script is run, and no program is moved to where it was built for: one that looks for its data in /usr has to be
// told by its own variables and flags where they are ([Root.Path]).
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

	"agentctl/tests/cache"
	"agentctl/tests/extent"
)

// ErrMissing means that a package is neither unpacked nor to be had on this machine.
var ErrMissing = errors.New("not unpacked")

// MayBeMissing reports whether an error says that this machine cannot have the package, and need not: in continuous integration it must,
// unless the tests are to use nothing from elsewhere.
func MayBeMissing(err error) bool {
	return errors.Is(err, ErrMissing) && (extent.Hermetic() || os.Getenv("CI") != "true")
}

// Package is a Debian package at a version.
type Package struct {
	// Name is Debian's name of the package.
	Name string
	// Version is the version that its authors gave it ("5.9"): Debian's revisions of it ("5.9-4+b15") hold repairs only, and
	// the archive keeps but the newest.
	Version string
	// Release is the release of Debian that has this version, "" for the machine's own. A package of another one is unpacked with all
	// libraries that it needs.
	Release string
	// Files must be there once it is unpacked, by their paths below the root.
	Files []string
}

func (p Package) String() string {
	if p.Release != "" {
		return p.Name + "-" + p.Version + "-" + p.Release
	}
	return p.Name + "-" + p.Version
}

func (p Package) check(dir string) error {
	for _, name := range p.Files {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// Root is the folder in which a package is unpacked as if it were /.
type Root string

// Path is where a file of the package is.
func (r Root) Path(name string) string { return filepath.Join(string(r), name) }

// Glob is the only file that matches a pattern below the root, "" if there is none or several.
func (r Root) Glob(pattern string) string {
	if found, _ := filepath.Glob(r.Path(pattern)); len(found) == 1 {
		return found[0]
	}
	return ""
}

// Environ adds the package's libraries and programs to an environment.
func (r Root) Environ(environ []string) []string {
	var libraries []string
	for _, pattern := range []string{"usr/lib/*/*.so*", "lib/*/*.so*", "usr/lib/*.so*", "lib/*.so*", "usr/lib/*/systemd/*.so*"} {
		found, _ := filepath.Glob(r.Path(pattern))
		for _, file := range found {
			if dir := filepath.Dir(file); !slices.Contains(libraries, dir) {
				libraries = append(libraries, dir)
			}
		}
	}
	programs := []string{r.Path("usr/bin"), r.Path("bin"), r.Path("usr/sbin"), r.Path("sbin")}
	return with(with(environ, "LD_LIBRARY_PATH", libraries), "PATH", programs)
}

// with puts directories before those of a variable.
func with(environ []string, key string, dirs []string) []string {
	if len(dirs) == 0 {
		return environ
	}
	value := strings.Join(dirs, ":")
	environ = slices.Clone(environ)
	for i, variable := range environ {
		if old, ok := strings.CutPrefix(variable, key+"="); ok {
			environ[i] = key + "=" + value + ":" + old
			return environ
		}
	}
	return append(environ, key+"="+value)
}

// Tmux is the terminal multiplexer that several tests need.
func Tmux() Package {
	return Package{Name: "tmux", Version: "3.3a", Files: []string{"usr/bin/tmux"}}
}

// Script writes a shell script that runs a program of the package with the package's libraries. Programs that it starts have them too,
// unless they are those of another release, which need a loader of their own.
func (r Root) Script(path, program string) error {
	var libraries string
	for _, v := range r.Environ(nil) {
		if value, ok := strings.CutPrefix(v, "LD_LIBRARY_PATH="); ok {
			libraries = value
		}
	}
	words := []string{"env", "LD_LIBRARY_PATH=" + libraries}
	if loader := r.Glob("usr/lib/*/ld-linux-*.so.*"); loader != "" {
		words = []string{loader, "--library-path", libraries}
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", strings.Join(append(words, r.Path(program)), "' '"))
	return os.WriteFile(path, []byte(script), 0o755)
}

// folder is the folder of all packages: $AGENTCTL_TEST_DEBIAN, else agentctl-test/debian in the user's cache.
func folder() (string, error) { return cache.Root("AGENTCTL_TEST_DEBIAN", "debian") }

// Ensure returns an unpacked package, which it fetches first unless it is there. It needs apt-get and dpkg, and the network. A
// machine that has never read the lists of packages reads them, if root may.
func Ensure(ctx context.Context, p Package) (Root, error) {
	return ensure(p.String(), p.check, func(dir string) error {
		if p.Release == "" {
			return fetch(ctx, dir, []Package{p})
		}
		options, err := optionsFor(ctx, p.Release, filepath.Join(dir, ".apt"))
		if err != nil {
			return err
		}
		return errors.Join(fetch(ctx, dir, []Package{p}, options...), os.RemoveAll(filepath.Join(dir, ".apt")))
	})
}

// find returns a folder of the cache that passes a check.
func find(name string, check func(dir string) error) (Root, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	root := filepath.Join(dir, name)
	if err := check(root); err != nil {
		return "", fmt.Errorf("%w: %s (%w); apt-get and the network are needed once, or a folder with the packages in $AGENTCTL_TEST_DEBIAN", ErrMissing, name, err)
	}
	return Root(root), nil
}

// ensure returns a folder of the cache that passes a check, and builds it first unless it is there.
func ensure(name string, check, build func(dir string) error) (Root, error) {
	if extent.Hermetic() {
		return "", fmt.Errorf("%w: %s: it comes from Debian", ErrMissing, name)
	}
	if root, err := find(name, check); err == nil {
		return root, nil
	}
	dir, err := folder()
	if err != nil {
		return "", err
	}
	for _, program := range []string{"apt-get", "dpkg"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("%w: %s: %w", ErrMissing, name, err)
		}
	}
	if err := cache.Make(dir, name, check, build); err != nil {
		return "", fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return find(name, check)
}
