// Command support tries agentctl with versions of the real agents and writes what it has seen into docs/support.md:
//
//	go run ./tests/support -claude 2.1.332,2.1.300 -codex 0.171.0 -opencode 1.18.33 -pi 1.5.2 -copilot 1.0.102
//
// and a program of OpenCode 2, which no registry has:
//
//	go run ./tests/support -opencode2 PATH
//
// It installs each version from npm, runs TestSupport of tests/realagents with it, one version after another, and replaces its row;
// the rows of other versions stay. Without versions it writes the page anew, as after a change of the explanations.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/sandbox"
	"agentctl/tests/support/facts"
)

// pagePath is the page, from the top of the repository.
const pagePath = "docs/support.md"

func main() {
	var releases []install.Release
	for name, agent := range map[string]string{"claude": install.ClaudeCode, "codex": install.Codex, "opencode": install.OpenCode, "pi": install.Pi, "copilot": install.Copilot} {
		flag.Func(name, "versions of "+agent+", separated by commas", func(list string) error {
			for version := range strings.SplitSeq(list, ",") {
				releases = append(releases, install.Release{Agent: agent, Version: version})
			}
			return nil
		})
	}
	openCode2 := flag.String("opencode2", "", "a program of OpenCode 2: compare it with what was read in its source, and add its row")
	flag.Parse()
	if *openCode2 != "" {
		if code, ran := sandbox.Enter(sandbox.Processes | sandbox.Network); ran {
			os.Exit(code)
		}
	}
	if err := run(releases, *openCode2); err != nil {
		fmt.Fprintln(os.Stderr, "support:", err)
		os.Exit(1)
	}
}

// run tries the releases and writes the page, with all that was seen even if one could not be tried.
func run(releases []install.Release, openCode2 string) error {
	text, err := os.ReadFile(pagePath)
	if err != nil {
		return fmt.Errorf("run this from the top of the repository: %w", err)
	}
	p, err := parsePage(string(text))
	if err != nil {
		return err
	}
	var failed error
	for _, r := range releases {
		began := time.Now()
		seen, err := try(r)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", r, err))
			continue
		}
		p.set(r, time.Now(), seen)
		fmt.Printf("%s: %d s\n", r, int(time.Since(began).Seconds()))
		for _, s := range seen {
			if s.Why != "" {
				fmt.Printf("  %s: %s (%s)\n", s.Fact, s.Result, strings.TrimSpace(s.Why))
			}
		}
	}
	if openCode2 != "" {
		failed = errors.Join(failed, addOpenCode2(&p, openCode2))
	}
	out, unexplained := p.text(reasonsFor(p))
	return errors.Join(failed, unexplained, os.WriteFile(pagePath, []byte(out), 0o644))
}

// addOpenCode2 tries a program of OpenCode 2 and adds its row.
func addOpenCode2(p *page, program string) error {
	built := filepath.Join(os.TempDir(), fmt.Sprintf("agentctl-%d", os.Getpid()))
	defer func() { _ = os.Remove(built) }()
	if out, err := exec.Command("tests/build", built).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	r, seen, err := tryOpenCode2(program, built, os.Stdout)
	if len(seen) > 0 {
		p.set(r, time.Now(), seen)
	}
	return err
}

// try runs the test with a release, and returns what it has printed for each fact.
func try(r install.Release) (seen []facts.Seen, err error) {
	cmd := exec.Command("go", "test", "-count=1", "-v", "-timeout=30m", "-run=^TestSupport$", "./tests/realagents")
	cmd.Env = append(os.Environ(), facts.ReleaseVariable+"="+r.String())
	out, failed := cmd.CombinedOutput()
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var s facts.Seen
		if json.Unmarshal(lines.Bytes(), &s) == nil && s.Agent == r.Agent && s.Version == r.Version {
			seen = append(seen, s)
		}
	}
	if len(seen) != len(facts.All()) {
		return nil, fmt.Errorf("the test has seen %d of %d facts: %w\n%s", len(seen), len(facts.All()), failed, out)
	}
	return seen, nil
}
