package claudecode

import "path/filepath"

// A workflow is a script that has sub-agents work for it, in the background: <id>/subagents/workflows/<run>/agent-<hex>.jsonl. The
// notes beside them do not say how they end; when the run is over, however that came, <id>/workflows/<run>.json is written (SEEN
// 2.1.197, 2.1.329). It may be resumed.
const workflowsName = "workflows"

// workflowRun is the run of a workflow that a sub-agent works for, "" if it works for none.
func workflowRun(transcript string) string {
	run := filepath.Dir(transcript)
	above := filepath.Dir(run)
	if filepath.Base(above) != workflowsName || filepath.Base(filepath.Dir(above)) != subagentsName {
		return ""
	}
	return filepath.Base(run)
}

// mayBeActive reports whether what is noted of a sub-agent allows that it is at work.
func mayBeActive(transcript string, a subagentMeta) bool {
	if run := workflowRun(transcript); run != "" {
		session := filepath.Join(filepath.Dir(transcript), "..", "..", "..")
		over := modTime(filepath.Join(session, workflowsName, run+".json"))
		return !over.After(modTime(transcript))
	}
	return a.mayBeOpen()
}
