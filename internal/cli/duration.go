package cli

import (
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/internal/config"
)

// durationValue is the value of a flag that takes a span of time.
type durationValue struct {
	to *time.Duration
	// zeroAllowed: 0 is accepted, and means no limit.
	zeroAllowed bool
}

// DurationFlag takes a span of time. What to holds is its default; 0 is none.
func DurationFlag(name, usage string, to *time.Duration) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &durationValue{to: to}}
}

// LimitFlag is a duration flag; 0 is no limit.
func LimitFlag(name, usage string, to *time.Duration) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &durationValue{to: to, zeroAllowed: true}}
}

func (s *durationValue) Set(text string) error {
	d, ok := config.ParseDuration(text)
	if !ok || d < 0 || d == 0 && !s.zeroAllowed {
		return errors.New("use a duration such as 90s, 30m, 1h30m, 2d or 1w")
	}
	*s.to = d
	return nil
}

// String is the default for the help.
func (s *durationValue) String() string {
	if s.to == nil || *s.to == 0 {
		return ""
	}
	text := strings.TrimSuffix(s.to.String(), "m0s")
	if text != s.to.String() {
		text += "m"
	}
	return text
}
