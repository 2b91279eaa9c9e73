// Package search finds sessions by what was said in them, without an index. Sessions are read newest first, on all
// processors. Bytes of storage are skipped, undecoded, only where no message in them can match: see [Pattern.MayMatch].
package search
