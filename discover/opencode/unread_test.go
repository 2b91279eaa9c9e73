package opencode

import "testing"

// The message has the part prt_5_0. Its answer, or that of a newer message, shows that the model has got it. A step that has not begun yet, or
// that follows, will read it.
func TestUnread(t *testing.T) {
	const text, done = `{"type":"text","text":"x"}`, `,"time":{"created":1,"completed":2}`
	user := func(id string) memoryRow { return newMemoryMessage(id, `{"role":"user"}`, text) }
	answer := func(id, parent, more string) memoryRow {
		return newMemoryMessage(id, `{"role":"assistant","parentID":"`+parent+`"`+more+`}`)
	}
	const stop, calls, open = `,"finish":"stop"` + done, `,"finish":"tool-calls"` + done, `,"time":{"created":1}`
	for name, c := range map[string]struct {
		rows   memoryRows
		idle   bool
		unread bool
	}{
		"the first":                    {memoryRows{user("msg_5")}, false, true},
		"the first, answered":          {memoryRows{user("msg_5"), answer("msg_6", "msg_5", open)}, false, false},
		"answered":                     {memoryRows{user("msg_1"), answer("msg_2", "msg_1", stop), user("msg_5"), answer("msg_6", "msg_5", stop)}, true, false},
		"a newer one is answered":      {memoryRows{user("msg_5"), user("msg_6"), answer("msg_7", "msg_6", open)}, false, false},
		"the turn has ended":           {memoryRows{user("msg_1"), answer("msg_2", "msg_1", stop), user("msg_5")}, false, true},
		"after the last step":          {memoryRows{user("msg_1"), answer("msg_2", "msg_1", stop), user("msg_5"), user("msg_6")}, true, true},
		"during a step":                {memoryRows{user("msg_1"), answer("msg_2", "msg_1", open), user("msg_5")}, false, false},
		"an answer that a kill left":   {memoryRows{user("msg_1"), answer("msg_2", "msg_1", open), user("msg_5")}, true, true},
		"between steps":                {memoryRows{user("msg_1"), answer("msg_2", "msg_1", calls), user("msg_5")}, false, false},
		"before a step that missed it": {memoryRows{user("msg_1"), user("msg_5"), answer("msg_6", "msg_1", open)}, false, true},
		"missed, and a step follows":   {memoryRows{user("msg_1"), user("msg_5"), answer("msg_6", "msg_1", calls)}, false, false},
		"missed by the last step":      {memoryRows{user("msg_1"), user("msg_5"), answer("msg_6", "msg_1", stop)}, true, true},
		"missed, and answered later":   {memoryRows{user("msg_1"), user("msg_5"), answer("msg_6", "msg_1", stop), answer("msg_7", "msg_5", open)}, false, false},
		"the turn has failed":          {memoryRows{user("msg_1"), answer("msg_2", "msg_1", `,"error":{"name":"APIError"}`), user("msg_5")}, false, true},
		"older than the answered one":  {memoryRows{user("msg_5"), user("msg_6"), answer("msg_7", "msg_6", stop)}, true, false},
		"not stored":                   {memoryRows{user("msg_1"), answer("msg_2", "msg_1", stop)}, false, false},
	} {
		if got := isUnread(c.rows, "prt_5_0", !c.idle); got != c.unread {
			t.Errorf("%s: %v", name, got)
		}
	}
}
