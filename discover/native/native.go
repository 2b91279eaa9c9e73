// Package native is what the agents' adapters share beside reading: versions, UUIDs, the form of questions to the user, and
// connections to local servers. Reading native storage is in its subpackages:
//
//   - fsread opens regular files safely, lists directories, and reads lines from either end of a file;
//   - jsonl reads the JSON objects of such lines;
//   - sqlite reads a database at one moment, without a write, through fsread.
//
// Imports go one way: native may import fsread and jsonl, sqlite imports fsread, and fsread and jsonl import none of them. No
// package here knows an agent.
package native
