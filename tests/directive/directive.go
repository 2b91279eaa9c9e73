// Package directive reads what a prompt tells tests' models and fake agents to do: [[verb argument;; verb argument …]].
package directive

import (
	"fmt"
	"strings"
	"time"
)

// Step is one thing to do: a verb and the text behind it.
type Step struct{ Verb, Arg string }

func (s Step) String() string { return strings.TrimSpace(s.Verb + " " + s.Arg) }

// Parse finds the first directive in text. Brackets balance, so that a step may hold a directive of its own (a
// sub-agent's prompt) or a shell test; ";;" separates steps only at the outer level.
func Parse(text string) ([]Step, bool) {
	_, rest, found := strings.Cut(text, "[[")
	if !found {
		return nil, false
	}
	var steps []Step
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

func parseStep(s string) Step {
	verb, arg, _ := strings.Cut(strings.TrimSpace(s), " ")
	return Step{Verb: verb, Arg: strings.TrimSpace(arg)}
}

// Pause is a wait inside an answer: for a while, until a gate opens, or (the zero Pause) for ever.
type Pause struct {
	Gate string
	Time time.Duration
}

// ParsePause reads "30s …", "@gate …" or nothing, and returns what follows it.
func ParsePause(arg string) (Pause, string, error) {
	first, rest, _ := strings.Cut(arg, " ")
	if first == "" {
		return Pause{}, "", nil
	}
	if gate, ok := strings.CutPrefix(first, "@"); ok {
		return Pause{Gate: gate}, rest, nil
	}
	d, err := time.ParseDuration(first)
	if err != nil || d <= 0 {
		return Pause{}, "", fmt.Errorf("%q is neither a duration like 30s nor a gate like @name", first)
	}
	return Pause{Time: d}, rest, nil
}
