package claudecode

import (
	"agentctl/discover/native/jsonl"
)

// callSummary is the part of a call's input that tells people what it does: of the members that do, the first one in this
// order.
func callSummary(input jsonl.Object) string {
	keys := [...]string{
		"command", "file_path", "notebook_path", "pattern", "path", "query", "url", "questions", "description", "subject",
		"skill", "to", "task_id", "bash_id", "shell_id",
	}
	best, brief := len(keys), ""
	for key, v := range input.Members() {
		for i, k := range keys[:best] {
			if string(key) != k {
				continue
			}
			if text := summaryText(v); text != "" {
				best, brief = i, text
			}
			break
		}
	}
	return brief
}

// summaryText is a text, or the first of a list of questions.
func summaryText(v jsonl.Value) string {
	for question := range v.Elements() {
		return question.Object().Get("question").Text(0)
	}
	return v.Text(0)
}
