// Package native is what the agents' readers share: opening files that others own without touching them, listing
// directories with few system calls, reading JSON-lines files from either end under a cap, and reading SQLite
// databases without a write. It knows no agent.
package native
