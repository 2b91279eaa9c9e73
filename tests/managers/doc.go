// Package managers tests agentctl with real programs that manage git hooks, in pinned versions: what `agentctl hooks install`
// advises for them is added as it is printed, and must load and guard a commit. It has tests only.
package managers
