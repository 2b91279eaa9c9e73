package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// step is one call of the model: a verb and the text behind it.
type step struct{ verb, arg string }

// parseDirective finds the first "[[verb arg;; verb arg …]]" in text. Brackets balance, so that a step may hold a
// directive of its own (a sub-agent's prompt) or a shell test; ";;" separates steps only at the outer level.
func parseDirective(text string) ([]step, bool) {
	_, rest, found := strings.Cut(text, "[[")
	if !found {
		return nil, false
	}
	var steps []step
	depth, start := 0, 0
	for i := 0; i+1 < len(rest); i++ {
		switch pair := rest[i : i+2]; {
		case pair == "[[":
			depth++
			i++
		case pair == "]]" && depth > 0:
			depth--
			i++
		case pair == "]]":
			return append(steps, parseStep(rest[start:i])), true
		case pair == ";;" && depth == 0:
			steps = append(steps, parseStep(rest[start:i]))
			start = i + 2
			i++
		}
	}
	return nil, false
}

func parseStep(s string) step {
	verb, arg, _ := strings.Cut(strings.TrimSpace(s), " ")
	return step{verb: verb, arg: strings.TrimSpace(arg)}
}

// pause is a wait inside an answer: for a while, until a gate is released, or (the zero gate) for ever.
type pause struct {
	gate string
	time time.Duration
}

// parsePause reads "30s …", "@gate …" or nothing, and returns what follows it.
func parsePause(arg string) (*pause, string, error) {
	first, rest, _ := strings.Cut(arg, " ")
	if first == "" {
		return &pause{}, "", nil
	}
	if gate, ok := strings.CutPrefix(first, "@"); ok {
		return &pause{gate: gate}, rest, nil
	}
	d, err := time.ParseDuration(first)
	if err != nil || d <= 0 {
		return nil, "", fmt.Errorf("%q is neither a duration like 30s nor a gate like @name", first)
	}
	return &pause{time: d}, rest, nil
}

// parseSlow reads "N [interval]".
func parseSlow(arg string) (words int, every time.Duration, err error) {
	first, rest, _ := strings.Cut(arg, " ")
	if words, err = strconv.Atoi(first); err != nil || words < 1 {
		return 0, 0, fmt.Errorf("%q is not a number of words", first)
	}
	if every = time.Second; rest != "" {
		every, err = time.ParseDuration(rest)
	}
	return words, every, err
}
