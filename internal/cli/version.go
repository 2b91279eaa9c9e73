package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"agentctl/internal/render"
)

func versionCommand(env Env) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Usage:              "print the version",
		Flags:              []cli.Flag{JSONFlag(&asJSON)},
		CustomHelpTemplate: HelpTemplate("agentctl version", "agentctl version --json"),
		Action: func(c *cli.Context) error {
			b := env.build()
			if asJSON {
				return render.JSON(env.Stdout, b)
			}
			_, err := fmt.Fprintf(env.Stdout, "agentctl %s (%s%s %s/%s)\n", b.Version, b.Commit(), b.Go, b.OS, b.Arch)
			return err
		},
	}
}

// Build is what is known of this binary; its field names are the JSON contract.
type Build struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	BuiltFrom string `json:"builtFrom,omitempty"`
	Modified  bool   `json:"modified,omitempty"`
	Go        string `json:"go"`
	OS        string `json:"os"`
	Arch      string `json:"arch"`
}

// shortCommit is how many digits of a commit are printed for people.
const shortCommit = 12

// Commit describes the commit in text, with a separator; "" if it is not known.
func (b Build) Commit() string {
	if b.Revision == "" {
		return ""
	}
	text := "commit " + b.Revision[:min(shortCommit, len(b.Revision))]
	if b.Modified {
		text += " with changes"
	}
	return text + ", "
}

// build describes this binary.
func (env Env) build() Build {
	info, _ := debug.ReadBuildInfo()
	return BuildInfo(env.Version, info)
}

// BuildInfo prefers the linker's stamp to what the Go command noted; info may be nil.
func BuildInfo(stamp string, info *debug.BuildInfo) Build {
	b := Build{Version: stamp, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
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
