package cli

import (
	"strings"

	"agentctl/internal/render"
)

// helpLines list the keys, in as many columns as the height needs. Each has its sentence if there is room, else its name.
func helpLines(width, height int) []string {
	var list []binding
	for _, b := range bindings() {
		if b.shown != "" {
			list = append(list, b)
		}
	}
	const keyWidth, gap = 9, 2
	columns := (len(list) + height - 1) / max(1, height)
	rows := (len(list) + columns - 1) / columns
	cell := max(0, width/columns-gap)
	lines := make([]string, rows)
	for i, b := range list {
		text := b.long
		if render.DisplayWidth(text) > cell-keyWidth {
			text = b.name
		}
		lines[i%rows] += render.FitLine(render.FitLine(b.shown, keyWidth)+text, cell) + strings.Repeat(" ", gap)
	}
	return lines
}
