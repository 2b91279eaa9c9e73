// Package render formats sessions, processes, locks and worktrees for people and for programs: tables, blocks of
// text, JSON, and Prometheus metrics.
//
// Text from a transcript is untrusted input. [Sanitize] and [SanitizeLines] remove every escape sequence and
// control character before text reaches a terminal. JSON keeps the text, but escapes every character that a
// terminal would interpret.
package render
