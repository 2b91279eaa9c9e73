// Package docs holds the pages of the documentation that the program itself shows.
package docs

import _ "embed"

// CommandLine is cli.md, the manual of the command line. It is in Markdown.
//
//go:embed cli.md
var CommandLine string
