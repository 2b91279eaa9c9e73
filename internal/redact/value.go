package redact

import (
	"encoding/json"
	"fmt"
)

// Value returns a value that marshals to JSON and back, without secrets in any of its texts. With r nil it returns the value itself.
func Value[T any](r *Redactor, v T) (T, error) {
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
