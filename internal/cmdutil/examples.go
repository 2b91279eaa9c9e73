package cmdutil

import (
	"strings"
)

// examples are the command lines that the help of a command ends with.
func examples(verb string) []string {
	switch verb {
	case "list":
		return []string{"agentctl list --all --since 30d", "agentctl list --repo . --status running,waiting", "agentctl list --watch"}
	case "status":
		return []string{"agentctl status 88d1d394", "agentctl status pid:4711 --explain", "agentctl status 88d1d394 --alive"}
	case "peek":
		return []string{"agentctl peek 88d1d394", "agentctl peek -n 1 88d1d394 --json"}
	case "logs":
		return []string{"agentctl logs -f 88d1d394", "agentctl logs -n 0 --tools 88d1d394"}
	case "launch":
		return []string{
			`agentctl launch codex --cwd ~/src/api -p "make the tests pass"`,
			`agentctl launch -p "fix the login test" --permissions edit --wait --max-time 30m`,
			`agentctl launch -p "port the parser" --adapter claude-code --adapter codex --group parser`,
		}
	case "resume":
		return []string{`agentctl resume 88d1d394 "now write the tests"`, "agentctl resume 88d1d394", `agentctl resume 88d1d394 --fork "try another way"`}
	case "wait":
		return []string{"agentctl wait 88d1d394", "agentctl wait --until waiting --timeout 2h 88d1d394", "agentctl wait --group parser"}
	case "events":
		return []string{"agentctl events --initial --repo .", `agentctl events --type session.waiting --quiet --exec 'notify-send "$AGENTCTL_ADAPTER waits"'`}
	case "stop":
		return []string{"agentctl stop 88d1d394", "agentctl stop --repo . --dry-run", "agentctl stop --idle-for 2h --quiet"}
	case "current":
		return []string{"agentctl current", "agentctl current --quiet"}
	case "guard":
		return []string{"agentctl guard", "agentctl guard --strict ~/src/api"}
	case "lock":
		return []string{`agentctl lock . --reason "release 1.4" --for 2h`, "agentctl lock . -- make release", "agentctl lock --repo . --for 1h"}
	case "unlock":
		return []string{"agentctl unlock .", "agentctl unlock --repo . --force"}
	case "locks":
		return []string{"agentctl locks", "agentctl locks --json"}
	}
	return moreExamples(verb)
}

// moreExamples are those of the commands about worktrees, hooks and the machine.
func moreExamples(verb string) []string {
	switch verb {
	case "worktree":
		return []string{"agentctl worktree list", "agentctl worktree clean --group parser --dry-run"}
	case "worktree list":
		return []string{"agentctl worktree list", "agentctl worktree list ~/src/api --json"}
	case "worktree clean":
		return []string{"agentctl worktree clean ../api-fix-login", "agentctl worktree clean --group parser --delete-branch"}
	case "hooks":
		return []string{"agentctl hooks install", "agentctl hooks status"}
	case "hooks install":
		return []string{"agentctl hooks install", "agentctl hooks install --repo ~/src/api --trailer-merges"}
	case "hooks uninstall":
		return []string{"agentctl hooks uninstall", "agentctl hooks uninstall --repo ~/src/api"}
	case "hooks status":
		return []string{"agentctl hooks status", "agentctl hooks status --json"}
	case "hooks run":
		return []string{"agentctl hooks run pre-commit", `agentctl hooks run prepare-commit-msg -- .git/COMMIT_EDITMSG message`}
	case "metrics":
		return []string{"agentctl metrics", "agentctl metrics --output /var/lib/node_exporter/textfile/agentctl.prom"}
	case "doctor":
		return []string{"agentctl doctor", "agentctl doctor --json"}
	case "schema":
		return []string{"agentctl schema", "agentctl schema > agentctl.schema.json"}
	case "completion":
		return []string{"source <(agentctl completion bash)", "agentctl completion fish | source"}
	case "version":
		return []string{"agentctl version", "agentctl version --json"}
	}
	return nil
}

// withExamples adds a section of examples to a template of help.
func withExamples(template string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimRight(template, "\n") + "\n\nEXAMPLES:\n   " + strings.Join(lines, "\n   ") + "\n"
}
