// Package manual makes the pages of the manual from docs/cli.md: man(7) for `man agentctl-COMMAND`, and text.
//
// The Markdown is a subset: paragraphs, tables, lists, code blocks; in texts code, bold and italic words, links and anchors.
package manual
