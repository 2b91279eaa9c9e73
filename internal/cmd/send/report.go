package send

import (
	"fmt"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/launch/send"
)

// printResult prints what became of a message that was accepted.
func printResult(c *cmdutil.Call, r send.Result, o *options) error {
	if o.Quiet {
		return nil
	}
	if o.JSON {
		return output.JSONLine(c.Stdout, resultObject(r))
	}
	if r.Delivery != send.Delivered {
		return nil // the error says it
	}
	_, err := fmt.Fprintf(c.Stdout, "%s  delivered\n", output.Sanitize(cmdutil.SessionName(r.Session)))
	return err
}

func resultObject(r send.Result) output.SendResult {
	out := output.SendResult{Result: string(r.Delivery), Refusal: r.Refusal, Session: output.NewSession(r.Session)}
	if r.Message != nil {
		m := output.NewMessage(*r.Message, r.Session)
		out.Message = &m
	}
	return out
}
