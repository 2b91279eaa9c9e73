package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// printTable writes one row a job; ratios are of medians.
func printTable(w io.Writer, jobs []*job) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "sessions\tmedian ms\tleast ms\t÷ yardstick\tsyscalls\ta session\tMB read\tMB resident\t  command (yardstick)")
	for _, j := range jobs {
		ratio, name := "", j.name
		if y := find(jobs, j.yardstick, j.sessions); y != nil {
			ratio = fmt.Sprintf("%.2f", j.over(y))
			name += " (" + y.name + ")"
		}
		size, calls, per, read, rss := "", "–", "", "–", "–"
		if j.sessions > 0 {
			size = fmt.Sprint(j.sessions)
		}
		if j.syscalls >= 0 {
			calls, read, rss = fmt.Sprint(j.syscalls), megabytes(j.read), megabytes(j.rss)
			if j.sessions > 0 {
				per = fmt.Sprintf("%.1f", float64(j.syscalls)/float64(j.sessions))
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t  %s\n",
			size, milliseconds(j.median()), milliseconds(j.least()), ratio, calls, per, read, rss, name)
	}
	for _, j := range jobs {
		if j.failure != "" {
			fmt.Fprintf(t, "FAILED: %s (%d sessions): %s\n", j.name, j.sessions, j.failure)
		}
	}
	return t.Flush()
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond))
}
func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }
