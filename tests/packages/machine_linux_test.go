package packages

import (
	"os/exec"
	"testing"

	"agentctl/tests/debian"
)

// machine is a fresh Debian: root directories, process tables and networks that hold nothing else. Each command gets one.
type machine struct {
	system debian.Root
	// packages are at /mnt, home is /root. They are shared by the machine's commands.
	packages, home string
}

// newMachine makes a machine. The first time, it fetches the packages of Debian that the tests use.
func newMachine(t *testing.T, packages string) machine {
	t.Helper()
	system, err := debian.System(t.Context(),
		debian.Package{Name: "bash", Version: "5.2.15", Files: []string{"bin/bash", "etc/skel/.bashrc"}},
		debian.Package{Name: "bash-completion", Version: "2.11", Files: []string{"usr/share/bash-completion/bash_completion"}},
		debian.Package{Name: "coreutils", Version: "9.1", Files: []string{"bin/cat"}},
		debian.Package{Name: "dash", Version: "0.5.12", Files: []string{"bin/sh"}},
		debian.Package{Name: "diffutils", Version: "3.8", Files: []string{"usr/bin/diff"}},
		debian.Package{Name: "dpkg", Version: "1.21.23", Files: []string{"usr/bin/dpkg"}},
		debian.Package{Name: "findutils", Version: "4.9.0", Files: []string{"usr/bin/find"}},
		debian.Package{Name: "fish", Version: "3.6.0", Files: []string{"usr/bin/fish"}},
		debian.Package{Name: "grep", Version: "3.8", Files: []string{"bin/grep"}},
		debian.Package{Name: "libc-bin", Version: "2.36", Files: []string{"usr/lib/locale/C.utf8"}},
		debian.Package{Name: "man-db", Version: "2.11.2", Files: []string{"usr/bin/man"}},
		debian.Package{Name: "mandoc", Version: "1.14.6", Files: []string{"usr/bin/mandoc"}},
		debian.Package{Name: "ncurses-base", Version: "6.4", Files: []string{"lib/terminfo/x/xterm-256color"}},
		debian.Package{Name: "rpm", Version: "4.18.0+dfsg", Files: []string{"usr/bin/rpm"}},
		debian.Package{Name: "ruby", Version: "3.1", Files: []string{"usr/bin/ruby3.1"}},
		debian.Package{Name: "sed", Version: "4.9", Files: []string{"bin/sed"}},
		debian.Package{Name: "zsh", Version: "5.9", Files: []string{"bin/zsh"}},
	)
	if err != nil {
		skip(t, err)
	}
	return machine{system: system, packages: packages, home: t.TempDir()}
}

// enter runs a command with a root directory: what it writes there is in memory, and the system below stays as it is.
const enter = `
system=$1 packages=$2 home=$3 dir=$4
shift 4
mount -t tmpfs tmpfs "$dir"
root=$dir/root
mkdir "$root" "$dir/upper" "$dir/work"
mount -t overlay overlay -o "lowerdir=$system,upperdir=$dir/upper,workdir=$dir/work" "$root"
mkdir -p "$root/mnt"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount --bind "$packages" "$root/mnt"
mount --bind "$home" "$root/root"
exec chroot "$root" "$@"`

// command is a command on the machine, with a root directory of its own.
func (m machine) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	line := append(unshare("--net", "--mount", "--pid"), "sh", "-euc", enter, "sh", string(m.system), m.packages, m.home, t.TempDir())
	cmd := exec.Command(line[0], append(line[1:], args...)...)
	cmd.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root", "LANG=C.UTF-8", "TERM=xterm-256color", "TZ=UTC",
	}
	return cmd
}

// sh runs commands on the machine. The first one that fails ends them.
func (m machine) sh(t *testing.T, script string) string {
	t.Helper()
	return run(t, m.command(t, "sh", "-euc", script))
}
