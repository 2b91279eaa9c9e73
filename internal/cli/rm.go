// Package rm has the commands rm, archive and unarchive.
package cli

import (
	"context"
	"io"
	"slices"
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
	done               string // what becomes of a session
	examples           []string
}

func wordsOf(action launch.StoreAction) words {
	return map[launch.StoreAction]words{
		launch.ActionRemove: {
			"remove stopped sessions, by their agents' own commands",
			"A removed session, with its sub-agents, cannot be restored. agentctl itself deletes nothing.", "remove these for ever?", "removed",
			[]string{"agentctl rm 88d1d394", "agentctl rm --older-than 90d --dry-run", "agentctl rm --older-than 90d --yes"},
		},
		launch.ActionArchive: {
			"put stopped sessions away, by their agents' own commands", "An archived session is not removed; unarchive restores it.", "archive these?", "archived",
			[]string{"agentctl archive 88d1d394", "agentctl archive --older-than 30d --dry-run"},
		},
		launch.ActionUnarchive: {
			"restore archived sessions, by their agents' own commands", "Few agents have a command for it.", "unarchive these?", "unarchived",
			[]string{"agentctl unarchive 88d1d394", "agentctl unarchive --dry-run 88d1d394"},
		},
	}[action]
}

func rmCommand(f Factory) *cli.Command { return rmNewCommand(f, launch.ActionRemove) }

func NewArchive(f Factory) *cli.Command { return rmNewCommand(f, launch.ActionArchive) }

func NewUnarchive(f Factory) *cli.Command { return rmNewCommand(f, launch.ActionUnarchive) }

func rmNewCommand(f Factory, action launch.StoreAction) *cli.Command {
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
			if err := o.check(args, f.Terminal); err != nil {
				return err
			}
			return runRm(c.Context, f, args, o)
		},
	}
}

// check refuses flags that do not go together, whatever sessions there are.
func (o *rmOptions) check(args []string, terminal bool) error {
	verb := string(o.action)
	switch {
	case len(args) > 0 && (o.olderThan > 0 || o.scope != Scope{}):
		return UsageError(verb, "IDs and a selection cannot be used together")
	case len(args) == 0 && o.olderThan == 0 && o.action == launch.ActionUnarchive:
		return UsageError(verb, "%s needs the ID of a session", verb)
	case len(args) == 0 && o.olderThan == 0:
		return UsageError(verb, "%s needs the ID of a session, or --older-than", verb)
	case !o.yes && !o.dryRun && (o.JSON || !terminal):
		return UsageError(verb, "%s needs --yes when not on a terminal, and with --json", verb)
	}
	return nil
}

func runRm(ctx context.Context, f Factory, args []string, o *rmOptions) error {
	c, err := f.NewCall(string(o.action), &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	if f.OnHosts(args...) {
		return rmRunHosts(ctx, c, args, o)
	}
	ctx, end := Interruptible(ctx) // until the results are printed: a signal between two steps would be lost
	defer end()
	do := launch.StoreOptions{Action: o.action, DryRun: o.dryRun, Host: launch.NewEnvironment(f.Environ, f.Adapters)}
	chosen, partial, err := rmFindSessions(ctx, c, args, o, do)
	if err != nil {
		return err
	}
	if len(chosen) == 0 && !o.Quiet && !o.JSON {
		f.Report.Note("no stopped session matches")
	}
	if !o.yes && !o.dryRun && len(chosen) > 0 {
		if err := confirm(ctx, c, SessionObjects(chosen), o); err != nil {
			return err
		}
	}
	endProgress := c.Progress("running the agents' commands")
	results := launch.ManageStored(ctx, c.Scanner, chosen, do)
	interrupted := ctx.Err()
	endProgress()
	objects := make([]object.StoredResult, len(results))
	for i, r := range results {
		objects[i] = rmResultObject(r, o.action)
	}
	if err := printResults(c, objects); err != nil {
		return err
	}
	if interrupted != nil {
		return interrupted
	}
	if err := rmResultError(results); err != nil {
		return err
	}
	return partial
}

// confirm asks whether these sessions are meant.
func confirm(ctx context.Context, c *Call, chosen []object.Session, o *rmOptions) error {
	w := wordsOf(o.action)
	return c.Confirm(ctx, w.question, "nothing was "+w.done, func(to io.Writer) error { return render.SessionTable(to, chosen, c.Style) })
}

// rmFindSessions finds the sessions of the arguments or the selection. If one of the arguments means none, nothing is done.
func rmFindSessions(ctx context.Context, c *Call, args []string, o *rmOptions, do launch.StoreOptions) (chosen []discover.Session, partial, err error) {
	endProgress := c.Progress("looking for the sessions")
	defer endProgress()
	if len(args) > 0 {
		r, err := c.FindAll(ctx, args)
		_ = c.ReportWarnings(r.Warnings)
		return r.Sessions, nil, err
	}
	r, err := c.Selected(ctx, string(o.action), o.scope, true)
	if err != nil {
		return nil, nil, err
	}
	hinted := map[string]bool{}
	for _, s := range r.Sessions {
		last := s.LastActivity()
		archived := s.Archived && o.action == launch.ActionArchive
		if s.Status != discover.Stopped || archived || last.IsZero() || c.Now().Sub(last) < o.olderThan || c.OtherUsers(r, s) || s.Trust != discover.TrustOurs {
			continue
		}
		if err := launch.CheckStoreAction(c.Adapters, s, do); err != nil {
			if text := err.Error(); !hinted[text] && !o.Quiet {
				hinted[text] = true
				c.Report.Hint("left out: " + render.Sanitize(text))
			}
			continue
		}
		chosen = append(chosen, s)
	}
	return chosen, c.ReportWarnings(r.Warnings), nil
}
