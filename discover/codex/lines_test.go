package codex

import "strings"

const someID = "01a1fa6a-5869-7310-8297-cbac269b6576"

func rollout(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

const (
	metaLine     = `{"timestamp":"2026-11-20T19:00:00Z","type":"session_meta","payload":{"id":"` + someID + `","cwd":"/w","cli_version":"0.104.0"}}`
	contextLine  = `{"timestamp":"2026-11-20T19:00:01Z","type":"turn_context","payload":{"cwd":"/w","model":"m"}}`
	startedLine  = `{"timestamp":"2026-11-20T19:00:02Z","type":"event_msg","payload":{"type":"task_started"}}`
	askedLine    = `{"timestamp":"2026-11-20T19:00:03Z","type":"event_msg","payload":{"type":"user_message","message":"do it"}}`
	answerLine   = `{"timestamp":"2026-11-20T19:00:04Z","type":"event_msg","payload":{"type":"agent_message","message":"done"}}`
	saidLine     = `{"timestamp":"2026-11-20T19:00:04Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[]}}`
	callLine     = `{"timestamp":"2026-11-20T19:00:05Z","type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c1"}}`
	outputLine   = `{"timestamp":"2026-11-20T19:00:06Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1"}}`
	silentLine   = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":null}}`
	completeLine = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":"done"}}`
	timedLine    = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":null,"completed_at":1}}`
	newerLine    = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":null,"started_at":1,"completed_at":1}}`
	failedLine   = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","error":{"message":"no key"}}}`
	abortedLine  = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`
	errorLine    = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"error","message":"gone"}}`
	settingsLine = `{"timestamp":"2026-11-20T19:00:08Z","type":"event_msg","payload":{"type":"thread_settings_applied","thread_settings":{"model":"n","cwd":"/v"}}}`
	reviewLine   = `{"timestamp":"2026-11-20T19:00:02Z","type":"event_msg","payload":{"type":"entered_review_mode","user_facing_hint":"the diff"}}`
	compactLine  = `{"timestamp":"2026-11-20T19:00:06Z","type":"compacted","payload":{"message":""}}`
)

// stamp sets the seconds of a line's timestamp.
func stamp(line, second string) string {
	const prefix = `{"timestamp":"2026-11-20T19:00:`
	return prefix + second + line[len(prefix)+len("00"):]
}
