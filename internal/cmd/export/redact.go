package export

import (
	"encoding/json"
	"fmt"

	"agentctl/internal/redact"
)

// redacted returns a value without secrets in any of its texts. With r nil it returns the value itself.
func redacted[T any](r *redact.Redactor, v T) (T, error) {
	if r == nil {
		return v, nil
	}
	var out T
	text, err := json.Marshal(v)
	if err != nil {
		return out, fmt.Errorf("redacting: %w", err)
	}
	clean := r.JSON(text)
	if &clean[0] == &text[0] {
		return v, nil // nothing was found
	}
	if err := json.Unmarshal(clean, &out); err != nil {
		return out, fmt.Errorf("redacting: %w", err)
	}
	return out, nil
}
