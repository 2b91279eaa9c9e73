package cmdutil

import (
	"fmt"

	"agentctl/discover"
	"agentctl/internal/output"
)

// Show prints sessions in full: one, or all those of a process.
func (c *Call) Show(sessions []discover.Session, resources []output.Resources, explain, asJSON bool) error {
	for i, s := range sessions {
		object := output.NewSessionWithResources(s, resources[i])
		if explain {
			object.Explain = output.Explain(s)
		}
		var err error
		switch {
		case c.Template != nil:
			err = c.Template(c.Stdout, object)
		case asJSON && len(sessions) > 1:
			err = output.JSONLine(c.Stdout, object)
		case asJSON:
			err = output.JSON(c.Stdout, object)
		default:
			if i > 0 {
				fmt.Fprintln(c.Stdout)
			}
			err = output.Details(c.Stdout, s, resources[i], explain, c.Style)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
