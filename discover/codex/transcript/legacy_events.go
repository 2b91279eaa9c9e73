package transcript

// legacyEventKind is the kind of an event that only legacy files have, [Unknown] for any other. Exec wrote such files up to 0.147, the
// terminal interface up to 0.130 (SEEN 0.42–0.147), and a newer version that resumes a legacy file continues it so (SEEN 0.169).
// Paginated files have an item_completed event instead; see [itemKind].
func (r *Record) legacyEventKind(name []byte) Kind {
	switch string(name) {
	case "entered_review_mode":
		return ReviewEntered
	case "exited_review_mode":
		return ReviewExited
	case "context_compacted":
		return CompactionShown
	case "user_message":
		// 0.42 also records the agent's own words as the user's, with another kind.
		if kind := string(shortString(r.Get("kind"))); kind != "" && kind != "plain" {
			return InjectedText
		}
		return UserText
	case "agent_message":
		return AgentText
	case "agent_reasoning":
		return Reasoning
	}
	return Unknown
}
