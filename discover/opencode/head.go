package opencode

import "agentctl/discover/native/jsonl"

// head is what the first messages of a session tell.
type head struct {
	// FirstPrompt is the first text that the user wrote, as it is stored, cut to [promptLimit].
	FirstPrompt string
	// FirstCreated is the time of the first message in milliseconds; 0 if there is none, or if only its JSON has a time.
	FirstCreated int64
}

// readHead reads the messages up to the first prompt. Usually that is the first part of the first message.
func readHead(rows rowReader) (h head) {
	for m := range rows.Oldest() {
		if h.FirstCreated == 0 {
			h.FirstCreated = m.Created
		}
		if jsonl.Object(m.head).Get("role").Text(nameLimit) != userRole {
			continue
		}
		for r := range rows.Parts(m.ID) {
			if p := parsePart(r.JSON()); p.isPrompt() {
				h.FirstPrompt = p.text
				return h
			}
		}
	}
	return h
}
