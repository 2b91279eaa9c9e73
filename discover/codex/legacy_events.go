package codex

// legacyEventKind is the kind of an event that only legacy files have, [kindUnknown] for any other. Exec wrote such files up to 0.147, the
// terminal interface up to 0.130 (SEEN 0.42–0.147), and a newer version that resumes a legacy file continues it so (SEEN 0.169).
// Paginated files have an item_completed event instead; see [itemKind].
func (r *rolloutRecord) legacyEventKind(name []byte) recordKind {
	switch string(name) {
	case "entered_review_mode":
		return kindReviewEntered
	case "exited_review_mode":
		return kindReviewExited
	case "context_compacted":
		return kindCompactionShown
	case "user_message":
		// 0.42 also records the agent's own words as the user's, with another kind.
		if kind := string(shortString(r.Get("kind"))); kind != "" && kind != "plain" {
			return kindInjectedText
		}
		return kindUserText
	case "agent_message":
		return kindAgentText
	case "agent_reasoning":
		return kindReasoning
	}
	return kindUnknown
}
