package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/search"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

type searchOptions struct {
	CommonFlags
	pattern                                  search.PatternOptions
	since, role, tool                        string
	statuses                                 cli.StringSlice
	scope                                    Scope
	children                                 bool
	texts                                    cli.StringSlice // of -e
	count                                    bool
	maxMatches, limit, around, before, after int
}

func searchCommand(env Env) *cli.Command {
	o := &searchOptions{}
	return &cli.Command{
		Usage:     "find sessions by what was said in them",
		ArgsUsage: "PATTERN",
		Description: "PATTERN is a regular expression (RE2). It is matched with what the user and the model said, and with the input and output of\n" +
			"tool calls. Letters match in both cases unless PATTERN has a capital letter. The newest sessions are searched first.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "since", Usage: "sessions active since `WHEN`: 12h, 30d, 2w, a date, a time, all", Value: "30d", Destination: &o.since},
			AdapterFlag(&o.AdapterNames),
			ListFlag("status", "only this `STATUS`: running, waiting, idle, stopped, unknown", &o.statuses),
		}, o.scope.Flags("only"), []cli.Flag{
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' sessions", Destination: &o.children},
			&cli.StringFlag{Name: "role", Usage: "only messages of `ROLE`: user, assistant, tool", Destination: &o.role},
			&cli.StringFlag{Name: "tool", Usage: "only calls of the tool `NAME`", Destination: &o.tool},
			&cli.BoolFlag{Name: "fixed-strings", Aliases: []string{"F"}, Usage: "PATTERN is a text, not a regular expression", Destination: &o.pattern.Literal},
			&cli.BoolFlag{Name: "ignore-case", Aliases: []string{"i"}, Usage: "letters match in both cases", Destination: &o.pattern.IgnoreCase},
			&cli.BoolFlag{Name: "word", Aliases: []string{"w"}, Usage: "match whole words only", Destination: &o.pattern.Words},
			&cli.IntFlag{Name: "m", Usage: "show at most `N` matching messages of each session, the newest; 0 shows all", Destination: &o.maxMatches},
			&cli.IntFlag{Name: "n", Usage: "stop after `N` sessions; 0 searches all", Destination: &o.limit},
			ListFlag("e", "find `PATTERN`, which may begin with a dash", &o.texts),
			&cli.IntFlag{Name: "context", Aliases: []string{"C"}, Usage: "show `N` messages before and after each match", Destination: &o.around},
			&cli.IntFlag{Name: "before-context", Aliases: []string{"B"}, Usage: "show `N` messages before each match", Destination: &o.before},
			&cli.IntFlag{Name: "after-context", Aliases: []string{"A"}, Usage: "show `N` messages after each match", Destination: &o.after},
			&cli.BoolFlag{Name: "ids", Aliases: []string{"l"}, Usage: "print IDs only", Destination: &o.Quiet},
			&cli.BoolFlag{Name: "count", Aliases: []string{"c"}, Usage: "print IDs and how many messages match: ID:N", Destination: &o.count},
		}, o.tableFlags()),
		CustomHelpTemplate: HelpTemplate(
			`agentctl search "connection (refused|reset)"`,
			"agentctl search -F --role user --since all 'TODO: parser'",
			"agentctl search -l migrate | fzf --preview 'agentctl peek {}'",
		),
		Action: func(c *cli.Context) error {
			if !c.IsSet("before-context") {
				o.before = o.around
			}
			if !c.IsSet("after-context") {
				o.after = o.around
			}
			patterns := c.Args().Slice()
			switch texts := o.texts.Value(); {
			case len(texts) == 0 && len(patterns) == 0:
				return UsageError("search", "search needs a pattern")
			case len(texts) > 0 && len(patterns) > 0:
				return UsageError("search", "-e and the pattern %q cannot be used together", patterns[0])
			case len(patterns) > 1:
				return NewUsageError("search takes one pattern", "quote it: agentctl search "+strconv.Quote(strings.Join(patterns, " ")))
			}
			return runSearch(c.Context, env, patterns, o)
		},
	}
}

// runSearch searches for the pattern in patterns, or for those of -e if it is empty.
func runSearch(ctx context.Context, env Env, patterns []string, o *searchOptions) error {
	c, err := env.NewCall("search", &o.CommonFlags, object.Session{})
	if err != nil {
		return err
	}
	q, err := searchQuery(c, append(o.texts.Value(), patterns...), o)
	if err != nil {
		return err
	}
	calls, err := c.HostCalls(nil, patterns, false)
	if err != nil {
		return err
	}
	s := searcher{Call: c, options: o}
	err = Each(ctx, c, calls, "searching", func(ctx context.Context, take func(object.Session) error) error {
		return s.searchLocal(ctx, q, take)
	}, s.take)
	if errors.Is(err, errEnough) {
		return s.partial
	}
	return err
}

// searchLocal passes on the sessions of this machine in which something is found.
func (s *searcher) searchLocal(ctx context.Context, q search.Query, take func(object.Session) error) (err error) {
	var searched, total atomic.Int64
	q.Progress = func(n, of int) {
		total.Store(int64(of))
		searched.Store(int64(n))
	}
	defer s.ProgressOf(func() string {
		if total.Load() == 0 {
			return "listing the agents' stores"
		}
		return fmt.Sprintf("searched %d of %d sessions", searched.Load(), total.Load())
	})()
	older, failed := search.Run(ctx, s.Scanner, q, func(found search.Found) (more bool) {
		for _, unread := range found.Errors {
			s.warn([]*discover.Warning{UnreadWarning(found.Session, unread)})
		}
		err = take(object.NewFound(found))
		return err == nil
	}, s.warn)
	switch err = cmp.Or(err, failed); {
	case err != nil && ctx.Err() != nil:
		// Of the sessions that are searched together, all count or none.
		s.Report.Note(fmt.Sprintf("interrupted: at least %d of %d sessions were searched", searched.Load(), total.Load()))
	case err == nil:
		s.HintLeftOut("--since all", OlderSessions(older))
		if err = s.partial; err == nil && s.sessions == 0 {
			err = ErrNo
			if q.Pattern.CaseSensitive {
				s.Report.Hint("the pattern has a capital letter, so letters match in their own case only; -i matches both")
			}
		}
	}
	return err
}

func searchQuery(c *Call, patterns []string, o *searchOptions) (q search.Query, err error) {
	switch {
	case slices.Contains(patterns, ""):
		return q, UsageError("search", "the pattern is empty")
	case min(o.limit, o.maxMatches, o.around, o.before, o.after) < 0:
		return q, UsageError("search", "-n, -m, -A, -B and -C must be 0 or more")
	case o.count && (o.Quiet || o.JSON || c.Template != nil):
		return q, UsageError("search", "--count cannot be used with --ids, --json or --format")
	case o.role != "" && !slices.Contains(Roles(), o.role):
		return q, UnknownWord("role", o.role, Roles())
	case o.tool != "" && o.role != "" && o.role != string(search.Tool):
		return q, UsageError("search", "--tool and --role %s cannot be used together", o.role)
	}
	if q.Pattern, err = search.Compile(o.pattern, patterns...); err != nil {
		return q, UsageError("search", "%s; -F takes the pattern as a text", strings.Replace(err.Error(), "error parsing regexp", "the pattern is no regular expression", 1))
	}
	q.Role, q.Tool, q.MaxMatches = search.Role(o.role), o.tool, o.maxMatches
	switch {
	case o.Quiet: // one match is enough
		q.MaxMatches = 1
	case !o.count:
		q.Before, q.After = o.before, o.after
	}
	q.Sessions = discover.SessionFilter{Agents: c.Agents, IncludeStopped: true, Subagents: o.children}
	if err = selectStatuses(&q.Sessions, o.statuses.Value()); err != nil {
		return q, err
	}
	if q.Sessions.Since, err = c.SinceTime("search", o.since); err != nil {
		return q, err
	}
	if !c.OnHosts() { // directories are the host's
		q.Sessions.Condition, err = o.scope.Match("search")
	}
	return q, err
}

// errEnough ends a search that has reached its limit.
var errEnough = errors.New("enough was found")

// searcher prints what is found.
type searcher struct {
	*Call
	options  *searchOptions
	sessions int   // printed
	partial  error // of what could not be read
}

func (s *searcher) warn(list []*discover.Warning) {
	if err := s.ReportWarnings(list); err != nil {
		s.partial = err
	}
}

// take prints a session. After the last one that may be printed it returns [errEnough].
func (s *searcher) take(found object.Session) error {
	if len(found.Matches) == 0 {
		return nil
	}
	err := s.print(&found)
	if s.sessions++; err == nil && s.sessions == s.options.limit {
		err = errEnough
	}
	return err
}

func (s *searcher) print(found *object.Session) error {
	switch {
	case s.options.Quiet:
		_, err := fmt.Fprintln(s.Stdout, render.Sanitize(found.Name()))
		return err
	case s.options.count:
		_, err := fmt.Fprintf(s.Stdout, "%s:%d\n", render.Sanitize(found.Name()), len(found.Matches))
		return err
	case s.options.JSON:
		return render.JSONLine(s.Stdout, found)
	case s.Template != nil:
		return s.Template(s.Stdout, *found)
	}
	var b strings.Builder
	if s.sessions > 0 {
		b.WriteByte('\n')
	}
	render.SearchText(&b, found, s.Style)
	_, err := io.WriteString(s.Stdout, b.String())
	return err
}

func Roles() []string {
	return []string{string(search.User), string(search.Assistant), string(search.Tool)}
}
