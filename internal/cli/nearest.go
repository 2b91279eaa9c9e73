package cli

import (
	"slices"
	"strings"
)

// longest is the longest word that could be a misspelt one of ours.
const longest = 64

// nearest finds the word that was probably meant: the only one that begins so, or of which at most a third of the letters
// have to change.
func nearest(word string, words []string) (string, bool) {
	best, cost := "", 0
	if word == "" || len(word) > longest {
		return "", false
	}
	begin := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, word) })
	if len(begin) == 1 {
		return begin[0], true
	}
	for _, w := range words {
		if d := distance(word, w); d <= max(1, len(w)/3) && (best == "" || d < cost) {
			best, cost = w, d
		}
	}
	return best, best != ""
}

// distance counts the letters to change, add, drop or swap with their neighbour to get from a to b (the restricted
// Damerau-Levenshtein distance).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
