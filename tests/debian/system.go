package debian

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
)

// System returns a root directory with packages and all that they depend on, whatever this machine has: a small Debian that a
// process can have as its root. It is fetched as by [Ensure]. Nothing in it is configured, dpkg's database is empty, and texts that no program
// needs are left out. It is shared by all tests: a test that writes copies it first.
func System(ctx context.Context, packages ...Package) (Root, error) {
	names := fnv.New64a()
	for _, p := range packages {
		fmt.Fprintln(names, p)
	}
	check := func(dir string) error {
		var missing []error
		for _, p := range packages {
			missing = append(missing, p.check(dir))
		}
		return errors.Join(missing...)
	}
	return ensure(fmt.Sprintf("system-%016x", names.Sum64()), check, func(dir string) error {
		if err := fetch(ctx, dir, packages, noneInstalled()...); err != nil {
			return err
		}
		for _, name := range []string{"usr/share/doc", "usr/share/locale", "usr/share/man", "usr/share/info"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		for _, name := range []string{"etc", "proc", "dev", "root", "tmp", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"} {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				return err
			}
		}
		for name, text := range map[string]string{
			"var/lib/dpkg/status": "",
			"etc/passwd":          "root:x:0:0:root:/root:/bin/bash\n",
			"etc/group":           "root:x:0:\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}
