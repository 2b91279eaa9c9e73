package config

import (
	_ "embed" // for go:embed
	"strings"
)

// schema is maintained by hand, without the agents. Tests compare it with what Load accepts.
//
//go:embed schema.json
var schema string

// Schema is the JSON Schema (draft-07, which editors know best) of the configuration file. agents are the valid names in [homes].
func Schema(agents []string) string {
	var homes []string
	for _, name := range agents {
		homes = append(homes, `"`+name+`": {"$ref": "#/definitions/directories"}`)
	}
	return strings.Replace(schema, `"properties": {}`, `"properties": {`+strings.Join(homes, ", ")+`}`, 1)
}
