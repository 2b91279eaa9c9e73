package transcript

import "agentctl/discover/native/jsonl"

// Head is what the first messages of a session tell.
type Head struct {
	// FirstPrompt is the first text that the user wrote, as it is stored, cut to [PromptLimit].
	FirstPrompt string
	// FirstCreated is the time of the first message in milliseconds; 0 if there is none, or if only its JSON has a time.
	FirstCreated int64
}

// ReadHead reads the messages up to the first prompt. Usually that is the first part of the first message.
func ReadHead(rows Rows) (h Head) {
	for m := range rows.Oldest() {
		if h.FirstCreated == 0 {
			h.FirstCreated = m.Created
		}
		if jsonl.Object(m.Head).Get("role").Text(NameLimit) != userRole {
			continue
		}
		for r := range rows.Parts(m.ID) {
			if p := ParsePart(r.JSON()); p.isPrompt() {
				h.FirstPrompt = p.text
				return h
			}
		}
	}
	return h
}
