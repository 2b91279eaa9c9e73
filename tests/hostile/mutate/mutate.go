// Package mutate damages what agents store: bytes, JSON lines, SQLite databases and their logs, compressed files, names.
// Each function is pure: the same source of numbers and the same input give the same damage.
package mutate

import (
	"math/rand/v2"
)

// Func damages the content of one file and names the damage. It may change raw in place.
type Func func(r *rand.Rand, raw []byte) (out []byte, what string)

// Pick returns one of the functions.
func Pick(r *rand.Rand, of []Func) Func { return of[r.IntN(len(of))] }

// pick returns one of the values.
func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// span returns a part of raw: from ≤ to, at most most bytes long.
func span(r *rand.Rand, raw []byte, most int) (from, to int) {
	if len(raw) == 0 {
		return 0, 0
	}
	from = r.IntN(len(raw))
	return from, min(from+1+r.IntN(most), len(raw))
}
