package cli

import (
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/internal/config"
)

// span is the value of a flag that takes a span of time.
type span struct {
	to *time.Duration
	// endless: 0 may be said, and is no limit.
	endless bool
}

// spanFlag takes a span of time. What to holds is its default; 0 is none.
func spanFlag(name, usage string, to *time.Duration) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &span{to: to}}
}

// limitFlag is a spanFlag of which 0 is no limit.
func limitFlag(name, usage string, to *time.Duration) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &span{to: to, endless: true}}
}

// Set implements [cli.Generic].
func (s *span) Set(text string) error {
	d, ok := config.ParseDuration(text)
	if !ok || d < 0 || d == 0 && !s.endless {
		return errors.New("use a duration such as 90s, 30m, 1h30m, 2d or 1w")
	}
	*s.to = d
	return nil
}

// String is the default for the help.
func (s *span) String() string {
	if s.to == nil || *s.to == 0 {
		return ""
	}
	text := strings.TrimSuffix(s.to.String(), "m0s")
	if text != s.to.String() {
		text += "m"
	}
	return text
}
