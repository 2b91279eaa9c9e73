package claudecode

import (
	"encoding/json"
	"path/filepath"

	"agentctl/discover/native"
)

// manifestLimit bounds package.json, in bytes; real ones have about 1,500.
const manifestLimit = 64 << 10

// installedVersion is the version of an installed program, by what lies around it; zero where that does not tell.
//
//   - npm: .../@anthropic-ai/claude-code/{cli.js,cli-wrapper.cjs,bin/claude.exe} with a package.json
//   - the native installer: .../claude/versions/2.1.197
func installedVersion(program string) version {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return version{}
	}
	dir := filepath.Dir(program)
	if filepath.Base(dir) == "versions" {
		return parseVersion(filepath.Base(program))
	}
	for _, dir := range []string{dir, filepath.Dir(dir)} {
		raw, err := native.ReadFile(filepath.Join(dir, "package.json"), manifestLimit)
		if err != nil {
			continue
		}
		var m struct{ Name, Version string }
		if json.Unmarshal(raw, &m) == nil && m.Name == "@anthropic-ai/claude-code" {
			return parseVersion(m.Version)
		}
	}
	return version{}
}
