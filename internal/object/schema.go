package object

import _ "embed"

// schema is maintained by hand. Tests compare it with the structs and with real output.
//
//go:embed schema.json
var schema string

// Schema is the JSON Schema (draft 2020-12) of everything that --json prints.
func Schema() string { return schema }

// SchemaID is the $id of the schema, without parsing it: a test compares the two.
func SchemaID() string { return "urn:agentctl:schema:1" }
