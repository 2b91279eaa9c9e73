package claudecode

import "path/filepath"

// A workflow is a script that has sub-agents work for it, in the background: <id>/subagents/workflows/<run>/agent-<hex>.jsonl. The
// notes beside them do not say how they end; when the run is over, however that came, <id>/workflows/<run>.json is written (SEEN
// 2.1.197, 2.1.329). It may be resumed.
const workflows = "workflows"

// runOf is the run of a workflow that a sub-agent works for, "" if it works for none.
func runOf(transcript string) string {
	run := filepath.Dir(transcript)
	above := filepath.Dir(run)
	if filepath.Base(above) != workflows || filepath.Base(filepath.Dir(above)) != subagents {
		return ""
	}
	return filepath.Base(run)
}

// mayWork reports whether what is noted of a sub-agent allows that it is at work.
func mayWork(transcript string, a about) bool {
	if run := runOf(transcript); run != "" {
		session := filepath.Join(filepath.Dir(transcript), "..", "..", "..")
		over := modTime(filepath.Join(session, workflows, run+".json"))
		return !over.After(modTime(transcript))
	}
	return a.open()
}
