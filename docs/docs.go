// Package docs holds the page of the documentation that the manual is made of.
package docs

import _ "embed"

// CommandLine is cli.md, the manual of the command line. It is in Markdown.
//
//go:embed cli.md
var CommandLine string
