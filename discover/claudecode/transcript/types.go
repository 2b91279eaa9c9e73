package transcript

import (
	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
)

// KnownTypes are the types of records that Claude Code writes (READ 2.1.332, in the table by which it stores them), those that only
// older versions wrote included. Most are metadata that this package does not read.
const KnownTypes = " user assistant system attachment progress summary queue-operation" +
	" custom-title ai-title agent-name agent-color agent-setting tag last-prompt pr-link frame-link" +
	" mode permission-mode memory-mode repl-mode dev-mods isolation-latch atis-latch session-owner host-row" +
	" worktree-state relocated bridge-session continued-in derived-from ended-by-model resume-head-vouch explicit" +
	" file-history-snapshot file-history-delta attribution-snapshot content-replacement fork-context-ref observer-ref" +
	" cost-state tools-used data-flow-records data-flow-incomplete history-suppression hybrid-organization" +
	" api-request api-request-shape api-request-blob api-request-resumed artifact-comment-monitor artifact-autoreact-ledger "

// TypeOf returns the type of a record.
func TypeOf(record jsonl.Object) string { return native.Kind(record.Get("type")) }
