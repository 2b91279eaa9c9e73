package proc

import (
	"path/filepath"
	"strings"
)

// ProgramName is the name of a program by the path of its file, or by the kernel's short name: what follows the last slash,
// but for what Nix puts around it. That hides a program behind a script of its name, and calls it .claude-wrapped, with
// a _ more for each time that it is wrapped again (READ nixpkgs make-wrapper.sh). The short name may be cut (.opencode-wrapp).
func ProgramName(path string) string {
	base := filepath.Base(path)
	name, hidden := strings.CutPrefix(base, ".")
	at := strings.LastIndex(name, "-wrap")
	if !hidden || at <= 0 || !strings.HasPrefix("-wrapped", strings.TrimRight(name[at:], "_")) {
		return base
	}
	return name[:at]
}
