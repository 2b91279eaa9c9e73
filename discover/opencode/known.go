package opencode

import (
	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
)

// knownPartTypes are the types of parts that OpenCode writes (READ 1.18.33), those that only older versions wrote included.
const knownPartTypes = " text reasoning file tool subtask agent step-start step-finish snapshot patch retry compaction "

// newestMessages is how many of a session's messages [unknownPartTypes] examines.
const newestMessages = 50

// unknownPartTypes returns the types of parts of the newest messages that this package does not know.
func unknownPartTypes(rows rowReader) []string {
	kinds := native.Kinds{Known: knownPartTypes}
	var messages []string
	for m := range rows.Newest(cursor{}) {
		if messages = append(messages, m.ID); len(messages) == newestMessages {
			break
		}
	}
	for _, m := range messages {
		for p := range rows.Parts(m) {
			kinds.Add(partType(jsonl.Object(p.head)))
		}
	}
	return kinds.Unknown
}
