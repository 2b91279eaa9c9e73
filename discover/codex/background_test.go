package codex

import (
	"fmt"
	"strings"
	"testing"
)

// backgroundCall returns the line of a tool call, backgroundResult that of a result whose command continues in the background.
func backgroundCall(id, name, arguments string) string {
	return fmt.Sprintf(`{"timestamp":"2026-11-20T19:00:10.000Z","type":"response_item","payload":{"type":"function_call","name":%q,"arguments":%q,"call_id":%q}}`, name, arguments, id)
}

func backgroundResult(id, number string) string {
	return fmt.Sprintf(`{"timestamp":"2026-11-20T19:00:11.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":%q,"output":"Wall time: 10 seconds\\nProcess running with session ID %s\\nOutput:\\n"}}`, id, number)
}

// A call that waits for a command in the background shows that command, however many calls wait for it.
func TestBackgroundCommandIsShown(t *testing.T) {
	waits := func(id, number string) string {
		return backgroundCall(id, "write_stdin", `{"session_id":`+number+`,"chars":""}`)
	}
	list, warnings := readMessages(t, rollout(
		metaLine, startedLine, contextLine, askedLine,
		backgroundCall("c1", "exec_command", `{"cmd":"make slow"}`), backgroundResult("c1", "12"),
		backgroundCall("c2", "exec_command", `{"cmd":"make other"}`), backgroundResult("c2", "1"),
		waits("c3", "12"), backgroundResult("c3", "12"),
		waits("c4", "12"),
		waits("c5", "1"),
		waits("c6", "7"),
	), someID)
	if warnings > 0 {
		t.Errorf("%d warnings", warnings)
	}
	for call, want := range map[string]string{"c3": "make slow", "c4": "make slow", "c5": "make other", "c6": ""} {
		found := false
		for _, m := range list {
			if strings.Contains(m, `"ID":"`+call+`"`) {
				found = true
				if !strings.Contains(m, `"Brief":"`+want+`"`) {
					t.Errorf("%s: %s, want %q", call, m, want)
				}
			}
		}
		if !found {
			t.Errorf("no call %s in %s", call, list)
		}
	}
}
