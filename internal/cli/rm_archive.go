package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
)

type rmOptions struct {
	CommonFlags
	action      launch.StoreAction
	scope       Scope
	olderThan   time.Duration
	yes, dryRun bool
}

// words are the texts that differ between the commands.
type words struct {
	usage, description string
	question           string // that the user is asked
	done               string // what happens to a session
	examples           []string
}

func wordsOf(action launch.StoreAction) words {
	return map[launch.StoreAction]words{
		launch.ActionRemove: {
			"remove stopped sessions, by their agents' own commands",
			"A removed session, with its sub-agents, cannot be restored. agentctl itself deletes nothing.", "permanently delete these sessions?", "removed",
			[]string{"agentctl rm 88d1d394", "agentctl rm --older-than 90d --dry-run", "agentctl rm --older-than 90d --yes"},
		},
		launch.ActionArchive: {
			"archive stopped sessions, by their agents' own commands", "An archived session is not removed; unarchive restores it.", "archive these sessions?", "archived",
			[]string{"agentctl archive 88d1d394", "agentctl archive --older-than 30d --dry-run"},
		},
		launch.ActionUnarchive: {
			"restore archived sessions, by their agents' own commands", "Few agents have a command for it.", "unarchive these sessions?", "unarchived",
			[]string{"agentctl unarchive 88d1d394", "agentctl unarchive --dry-run 88d1d394"},
		},
	}[action]
}

func storeCommand(env Env, action launch.StoreAction) *cli.Command {
	o, w := &rmOptions{action: action}, wordsOf(action)
	verb := string(action)
	text, flags := "agentctl "+verb+" [FLAGS] ID…", []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done", Destination: &o.dryRun},
		&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but errors", Destination: &o.Quiet},
		AdapterFlag(&o.AdapterNames),
		JSONFlag(&o.JSON),
	}
	if action != launch.ActionUnarchive {
		text += "\nagentctl " + verb + " [FLAGS] --older-than D"
		flags = slices.Concat([]cli.Flag{DurationFlag("older-than", "select stopped sessions that have not been active for `D`", &o.olderThan)}, o.scope.Flags("select"), flags)
	}
	return &cli.Command{
		Usage: w.usage, UsageText: text, Description: w.description, ArgsUsage: "ID…", Flags: flags,
		CustomHelpTemplate: HelpTemplate(w.examples...),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if err := o.check(args, env.Terminal); err != nil {
				return err
			}
			return runRm(c.Context, env, args, o)
		},
	}
}

// check refuses flags that do not go together, whatever sessions there are.
func (r *rmOptions) check(args []string, terminal bool) error {
	verb := string(r.action)
	switch {
	case len(args) > 0 && (r.olderThan > 0 || r.scope != Scope{}):
		return UsageError(verb, "IDs and a selection cannot be used together")
	case len(args) == 0 && r.olderThan == 0 && r.action == launch.ActionUnarchive:
		return UsageError(verb, "%s needs the ID of a session", verb)
	case len(args) == 0 && r.olderThan == 0:
		return UsageError(verb, "%s needs the ID of a session, or --older-than", verb)
	case !r.yes && !r.dryRun && (r.JSON || !terminal):
		return UsageError(verb, "%s needs --yes when not on a terminal, and with --json", verb)
	}
	return nil
}

// runRm first asks each machine what it would do, and shows that to the user. If an argument means no session, nothing is done anywhere. A selection is then
// restricted to the sessions that were shown.
func runRm(ctx context.Context, env Env, args []string, o *rmOptions) error {
	c, calls, err := env.NewHostCall(string(o.action), &o.CommonFlags, nil, args)
	if err != nil {
		return err
	}
	ctx, end := Interruptible(ctx) // until the results are printed: a signal between two steps would be lost
	defer end()
	local := &localStore{Call: c, args: args, rmOptions: o}
	planned, failed := local.run(ctx, withFlag(calls, "dry-run"), true)
	var chosen []object.Session
	for _, r := range planned {
		if r.Session != nil && r.Result == string(launch.StorePlanned) {
			chosen = append(chosen, *r.Session)
		}
	}
	if o.dryRun || len(chosen) == 0 || !allFound(failed, planned, calls, len(args) > 0) {
		return conclude(c, planned, failed, o)
	}
	if !o.yes {
		w := wordsOf(o.action)
		err := c.Confirm(ctx, w.question, "nothing was "+w.done, func(to io.Writer) error { return render.SessionTable(to, chosen, c.Style) })
		if err != nil {
			return err
		}
	}
	if len(args) > 0 {
		calls = slices.DeleteFunc(calls, func(call HostCall) bool { return !answered(planned, call) })
	} else {
		calls = restrictTo(calls, chosen)
	}
	results, acted := local.run(ctx, withFlag(calls, "yes"), false)
	if acted == nil && ExitCode(failed) == ExitPartial { // something could not be read before
		acted = failed
	}
	return conclude(c, results, acted, o)
}

// localStore acts on stored sessions of this machine, which it finds once.
type localStore struct {
	*Call
	*rmOptions
	args   []string
	chosen []discover.Session
}

// run returns what is or, in a dry run, would be done: on this machine, or else by the calls.
func (l *localStore) run(ctx context.Context, calls []HostCall, dryRun bool) (results []object.StoredResult, err error) {
	doing := "running the agents' commands"
	if dryRun {
		doing = "looking for the sessions"
	}
	err = Each(ctx, l.Call, calls, doing+" on", func(ctx context.Context, take func(object.StoredResult) error) error {
		defer l.Progress(doing)()
		do := launch.StoreOptions{Action: l.action, DryRun: dryRun, Host: launch.NewEnvironment(l.Environ, l.Adapters)}
		var partial error
		if l.chosen == nil {
			var err error
			l.chosen, partial, err = l.Choose(ctx, string(l.action), l.args, l.scope, true, func(s discover.Session) bool { return l.matches(s, do.Host) })
			if err != nil {
				return err
			}
		}
		results := launch.ManageStored(ctx, l.Scanner, l.chosen, do)
		interrupted := ctx.Err()
		for _, r := range results {
			if err := take(rmResultObject(r, l.action)); err != nil {
				return err
			}
		}
		return cmp.Or(interrupted, rmResultError(results), partial)
	}, func(r object.StoredResult) error {
		results = append(results, r)
		return nil
	})
	order := func(r object.StoredResult) int {
		return slices.IndexFunc(calls, func(c HostCall) bool { return c.Target.Name == r.Host })
	}
	slices.SortStableFunc(results, func(a, b object.StoredResult) int { return order(a) - order(b) })
	return results, err
}

// matches reports whether a session is one that the flags select, and leaves out those of an agent without a command for it.
func (l *localStore) matches(s discover.Session, host launch.Environment) bool {
	last := s.LastActivity()
	archived := s.Archived && l.action == launch.ActionArchive
	if s.Status != discover.Stopped || archived || last.IsZero() || l.Now().Sub(last) < l.olderThan || s.Trust != discover.TrustOurs {
		return false
	}
	_, err := launch.AdapterOf(l.Adapters, s.Agent).StoreCommand(l.action, s, host)
	if err != nil {
		l.Report.Hint("left out: " + render.Sanitize(err.Error()))
	}
	return err == nil
}

func rmResultObject(r launch.StoreResult, action launch.StoreAction) object.StoredResult {
	out := object.StoredResult{
		ID: object.NewSession(r.Before).ID, Adapter: string(r.Before.Agent), Action: string(action), Result: string(r.Outcome), Command: r.Command,
	}
	if r.Err != nil {
		out.Message = r.Err.Error()
	}
	now := r.After
	if r.Outcome == launch.StorePlanned {
		now = &r.Before
	}
	if now != nil {
		out.Session = new(object.NewSession(*now))
	}
	return out
}

// rmText returns the name of the session, and what became of it.
func rmText(r *object.StoredResult) (name, words string) {
	action := launch.StoreAction(r.Action)
	done := wordsOf(action).done
	switch outcome := launch.StoreOutcome(r.Result); {
	case outcome == launch.StoreDone:
		words = done
	case outcome == launch.StorePlanned:
		words = fmt.Sprintf("would be %s by %s", done, commandText(r.Command))
	case outcome == launch.StoreUnneeded && action == launch.ActionArchive:
		words = "archived already"
	case outcome == launch.StoreUnneeded:
		words = "not archived"
	default:
		words = fmt.Sprintf("%s (%s)", r.Result, r.Message)
	}
	return object.SessionName(r.Host, r.ID, 0), words
}

func commandText(args []string) string {
	if len(args) == 0 { // of another machine
		return "its agent"
	}
	return strings.Join(append([]string{filepath.Base(args[0])}, args[1:]...), " ")
}

// rmResultError returns the error of the results: a failure if one failed, else a conflict if one was refused, else that an agent
// has no command for it.
func rmResultError(results []launch.StoreResult) error {
	texts := map[launch.StoreOutcome][]string{}
	var unsupported error
	for _, r := range results {
		if r.Err != nil {
			texts[r.Outcome] = append(texts[r.Outcome], fmt.Sprintf("%s: %v", DescribeSession(r.Before), r.Err))
		}
		if r.Outcome == launch.StoreUnsupported {
			unsupported = cmp.Or(unsupported, r.Err)
		}
	}
	switch {
	case len(texts[launch.StoreFailed]) > 0:
		return errors.New(strings.Join(texts[launch.StoreFailed], "; "))
	case len(texts[launch.StoreRefused]) > 0:
		return ConflictError(strings.Join(texts[launch.StoreRefused], "; "), "agentctl stop ends live sessions")
	}
	return unsupported
}

// withFlag returns the calls with this one of the flags --yes and --dry-run.
func withFlag(calls []HostCall, flag string) (out []HostCall) {
	for _, call := range calls {
		out = append(out, call.WithoutFlags("yes", "dry-run").WithFlags("--"+flag))
	}
	return out
}

// restrictTo returns the calls for these sessions, instead of for what the flags select.
func restrictTo(calls []HostCall, sessions []object.Session) (out []HostCall) {
	for _, call := range calls {
		var ids []string
		for _, s := range sessions {
			if s.Host == call.Target.Name && s.ID != nil {
				ids = append(ids, *s.ID)
			}
		}
		if len(ids) > 0 {
			call = call.WithoutFlags("older-than", "cwd", "repo", "group")
			call.Arguments = append(call.Arguments, ids...)
			out = append(out, call)
		}
	}
	return out
}

// allFound reports whether each host has found its sessions. What a host refuses, or an agent cannot do, is left as it is.
func allFound(failed error, planned []object.StoredResult, calls []HostCall, named bool) bool {
	switch ExitCode(failed) {
	case ExitOK, ExitPartial:
		return true
	case ExitConflict, ExitUnable:
		return !named || !slices.ContainsFunc(calls, func(call HostCall) bool { return !answered(planned, call) })
	}
	return false
}

func answered(results []object.StoredResult, call HostCall) bool {
	return slices.ContainsFunc(results, func(r object.StoredResult) bool { return r.Host == call.Target.Name })
}

func conclude(c *Call, results []object.StoredResult, failed error, o *rmOptions) error {
	if len(results) == 0 && failed == nil && !o.Quiet && !o.JSON {
		c.Report.Note("no stopped session matches")
	}
	if err := PrintEach(results, func(r object.StoredResult) error { return printResult(c, r, rmText) }); err != nil {
		return err
	}
	return printedResults(c, results, failed)
}
