package agentrun

import (
	"context"
	"fmt"
	"strings"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// WithPrompt returns the call with the prompt on its stdin. The prompt is put together here: names of its files are relative to the current directory.
func (o *PromptOptions) WithPrompt(ctx context.Context, f cmdutil.Factory, verb string, call cmdutil.HostCall) (cmdutil.HostCall, error) {
	prompt, err := o.Text(ctx, f, verb, ".")
	if err != nil {
		return call, err
	}
	call = call.Without("prompt", "p", "prompt-file", "spec", "file").With("--prompt=-")
	call.Stdin = []byte(prompt)
	return call, nil
}

// OnHost starts an agent on another machine. The session comes as soon as it is proven, and again as it is at the end.
func OnHost(ctx context.Context, c *cmdutil.Call, call cmdutil.HostCall, o *Options, endProgress func()) error {
	var last *output.Session
	err := cmdutil.EachHost(ctx, c.Factory, []cmdutil.HostCall{call}, func(object output.Session) error {
		first := last == nil
		last = &object
		if !first || o.JSON {
			return nil
		}
		defer c.Report.Pause()()
		_, err := fmt.Fprintln(c.Stdout, output.Sanitize(object.Name()))
		return err
	})
	endProgress()
	switch {
	case last == nil:
	case o.JSON:
		if err := output.JSON(c.Stdout, *last); err != nil {
			return err
		}
	case o.Wait && !o.Quiet:
		if text := strings.TrimRight(output.SanitizeLines(last.Answer), "\n"); text != "" {
			if _, err := fmt.Fprintln(c.Stdout, text); err != nil {
				return err
			}
		}
	}
	return err
}
