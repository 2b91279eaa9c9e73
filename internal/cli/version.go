package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"agentctl/internal/output"
)

// build is what is known of this binary; its field names are the JSON contract.
type build struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	BuiltFrom string `json:"builtFrom,omitempty"`
	Modified  bool   `json:"modified,omitempty"`
	Go        string `json:"go"`
	OS        string `json:"os"`
	Arch      string `json:"arch"`
}

func newVersion(env Env) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Usage:     "print the version",
		UsageText: "agentctl version [--json]",
		Flags:     []cli.Flag{jsonFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			info, _ := debug.ReadBuildInfo()
			b := buildOf(env.Version, info)
			if asJSON {
				return output.JSON(env.Stdout, b)
			}
			_, err := fmt.Fprintf(env.Stdout, "agentctl %s (%s%s %s/%s)\n", b.Version, b.commit(), b.Go, b.OS, b.Arch)
			return err
		},
	}
}

// shortCommit is how many digits of a commit are printed for people.
const shortCommit = 12

// commit is what the text says of the commit, with a separator; "" where none is known.
func (b build) commit() string {
	if b.Revision == "" {
		return ""
	}
	text := "commit " + b.Revision[:min(shortCommit, len(b.Revision))]
	if b.Modified {
		text += " with changes"
	}
	return text + ", "
}

// buildOf prefers the linker's stamp to what the Go command noted; info may be nil.
func buildOf(stamp string, info *debug.BuildInfo) build {
	b := build{Version: stamp, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info != nil {
		b.Version = cmp.Or(b.Version, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.time":
				b.BuiltFrom = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	b.Version = cmp.Or(b.Version, "(devel)")
	return b
}
