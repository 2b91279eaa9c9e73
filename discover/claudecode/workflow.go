package claudecode

import "path/filepath"

// A workflow is a script that starts sub-agents in the background: <id>/subagents/workflows/<run>/agent-<hex>.jsonl. Their
// metadata does not record their end. When the run ends, for whatever reason, <id>/workflows/<run>.json is written (SEEN
// 2.1.197, 2.1.329). A run may be resumed.
const workflowsName = "workflows"

// workflowRun returns the workflow run that a sub-agent works for, "" if there is none.
func workflowRun(transcript string) string {
	run := filepath.Dir(transcript)
	above := filepath.Dir(run)
	if filepath.Base(above) != workflowsName || filepath.Base(filepath.Dir(above)) != subagentsName {
		return ""
	}
	return filepath.Base(run)
}

// mayBeActive reports whether a sub-agent may still be working, by its metadata or its workflow run.
func mayBeActive(transcript string, a subagentMeta) bool {
	if run := workflowRun(transcript); run != "" {
		session := filepath.Join(filepath.Dir(transcript), "..", "..", "..")
		ended := modTime(filepath.Join(session, workflowsName, run+".json"))
		return !ended.After(modTime(transcript))
	}
	return a.mayBeOpen()
}
