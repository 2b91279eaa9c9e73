// Package schema checks JSON against what `agentctl schema` says of it.
package schema

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"agentctl/internal/render"
)

// Check fails unless text is one JSON value that the part of agentctl's schema below $defs takes, and the schema as a whole.
func Check(part, text string) error {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return fmt.Errorf("%w in %q", err, text)
	}
	var whole jsonschema.Schema
	if err := json.Unmarshal([]byte(render.Schema()), &whole); err != nil {
		return err
	}
	for _, s := range []jsonschema.Schema{{Ref: "#/$defs/" + part, Defs: whole.Defs}, whole} {
		resolved, err := s.Resolve(nil)
		if err != nil {
			return err
		}
		if err := resolved.Validate(value); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
