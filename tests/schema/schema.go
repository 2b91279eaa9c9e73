// Package schema checks JSON against what `agentctl schema` says of it.
package schema

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"agentctl/internal/object"
)

// Check fails unless text is one JSON value that the part of agentctl's schema below $defs takes, and the schema as a
// whole; and unless the schema names every member of it: the published schema lets objects gain members, but our own
// output has none that it does not describe.
func Check(part, text string) error {
	if err := Published(part, text); err != nil {
		return err
	}
	var whole any
	if err := json.Unmarshal([]byte(object.Schema()), &whole); err != nil {
		return err
	}
	closeObjects(whole)
	closed, err := json.Marshal(whole)
	if err != nil {
		return err
	}
	return check(closed, part, text)
}

// Published fails unless the schema as it is printed takes text.
func Published(part, text string) error { return check([]byte(object.Schema()), part, text) }

func check(document []byte, part, text string) error {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return fmt.Errorf("%w in %q", err, text)
	}
	var whole jsonschema.Schema
	if err := json.Unmarshal(document, &whole); err != nil {
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

// closeObjects adds "additionalProperties": false to each object of a schema whose members it names.
func closeObjects(node any) {
	switch node := node.(type) {
	case map[string]any:
		if _, names := node["properties"]; names && node["type"] == "object" {
			node["additionalProperties"] = false
		}
		for _, below := range node {
			closeObjects(below)
		}
	case []any:
		for _, below := range node {
			closeObjects(below)
		}
	}
}
