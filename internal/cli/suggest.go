package cli

import (
	"slices"
	"strconv"
	"strings"
)

// maxWord bounds the words that suggestions are made for, in bytes.
const maxWord = 64

// closest finds the word that was probably meant: the only one with that prefix, or the nearest one with an edit distance
// of at most a third of its length.
func closest(word string, words []string) (string, bool) {
	best, cost := "", 0
	if word == "" || len(word) > maxWord {
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

// distance is the restricted Damerau-Levenshtein distance of two words.
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

// otherTools maps commands of other tools to the command of this program that does the same.
func otherTools() map[string]string {
	return map[string]string{
		"kill": "stop", "delete": "rm", "continue": "resume", "start": "launch", "run": "launch",
		"tail": "logs -f", "follow": "logs -f", "watch": "list --watch",
	}
}

// isNumber reports whether a word is a positive number, as a pid is.
func isNumber(word string) bool {
	n, err := strconv.ParseInt(word, 10, 32)
	return err == nil && n > 0
}

func unknownCommand(word string, known []string) error {
	hint := Program + " --help lists the commands"
	if other, ok := otherTools()[word]; ok {
		hint = "did you mean " + Program + " " + other + "?"
	} else if near, ok := closest(word, known); ok {
		hint = "did you mean " + near + "?"
	}
	return NewUsageError("unknown command "+strconv.Quote(word), hint)
}

// unknownShort makes the usage error for a word of short flags with an unknown one. For a single letter, edit distance says
// nothing: only the meaning that it has in other tools is suggested, if the command has such a flag.
func unknownShort(verb, word string, known []string) error {
	if len(word) > 2 {
		return UnknownWord("flag", word, known)
	}
	hint := Program + " " + verb + " --help"
	if long := map[string]string{"-f": "--force", "-o": "--json"}[word]; slices.Contains(known, long) {
		hint = "did you mean " + long + "?"
	}
	return NewUsageError("unknown flag "+strconv.Quote(word), hint)
}
