package top

import (
	"strings"

	"agentctl/internal/output"
)

// helpLines list the keys, in as many columns as the height needs and the width has room for.
func helpLines(width, height int) []string {
	list := bindings()
	const keyWidth, gap = 9, 2
	cells := make([]string, 0, len(list))
	for _, b := range list {
		cells = append(cells, output.FitLine(b.shown, keyWidth)+b.long)
	}
	columns := (len(cells) + height - 1) / max(1, height)
	rows := (len(cells) + columns - 1) / columns
	cell := width/columns - gap
	lines := make([]string, rows)
	for i, c := range cells {
		if i >= rows {
			lines[i%rows] += strings.Repeat(" ", gap)
		}
		lines[i%rows] += output.FitLine(c, cell)
	}
	return lines
}
