package claudecode

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
)

// checkInstalled returns an error that says what to do if npm has not run the package's install script (--ignore-scripts).
// In place of the native binary there is then a text of 500 bytes that no kernel executes (SEEN 2.1.329).
func checkInstalled(program string) error {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return err
	}
	pkg, ok := strings.CutSuffix(program, "/bin/claude.exe")
	if info, err := os.Stat(program); !ok || err != nil || info.Size() > placeholderLimit {
		return err
	}
	return fmt.Errorf("npm has not installed its native binary; run node %s", filepath.Join(pkg, "install.cjs"))
}

// placeholderLimit is more than that text and far less than a program has, in bytes.
const placeholderLimit = 64 << 10

// manifestLimit bounds package.json, in bytes; real ones have about 1,500.
const manifestLimit = 64 << 10

// installedVersion returns the version of an installed program, from the files around it; zero if they do not tell.
//
//   - npm: .../@anthropic-ai/claude-code/{cli.js,cli-wrapper.cjs,bin/claude.exe} with a package.json
//   - the native installer: .../claude/versions/2.1.197
func installedVersion(program string) native.Version {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return native.Version{}
	}
	dir := filepath.Dir(program)
	if filepath.Base(dir) == "versions" {
		return native.ParseVersion(filepath.Base(program))
	}
	for _, dir := range []string{dir, filepath.Dir(dir)} {
		raw, err := fsread.ReadFileNoFollow(filepath.Join(dir, "package.json"), manifestLimit)
		if err != nil {
			continue
		}
		var m struct{ Name, Version string }
		if json.Unmarshal(raw, &m) == nil && m.Name == "@anthropic-ai/claude-code" {
			return native.ParseVersion(m.Version)
		}
	}
	return native.Version{}
}

const (
	// newestTried is the newest version in docs/support.md.
	newestTried = "2.1.332"
	// oldestSupported is the oldest version whose processes are understood, half a year old. Stored sessions of older ones are read.
	oldestSupported = "2.1.132"
)

// Tried implements [discover.FormatChecker].
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: func(path string) string { return installedVersion(path).String() },
		UnknownKinds: discover.UnknownLineKinds(knownTypes, typeOf),
	}
}
