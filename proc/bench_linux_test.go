package proc

import (
	"os"
	"os/exec"
	"testing"
)

// BenchmarkTake measures the table of at least 2,000 processes beside its yardstick, ps. The aim is a fifth of ps,
// whole processes compared.
func BenchmarkTake(b *testing.B) {
	crowd(b, 2000)
	b.Run("take", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			table, err := Take(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(table.Len()), "processes")
		}
	})
	b.Run("ps", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("ps", "-eo", "pid,ppid,comm").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// crowd fills the process table up to n processes until the benchmark ends. They wait for the end of their input.
func crowd(b *testing.B, n int) {
	table, err := Take(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	stdin, hold, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	var crowd []*exec.Cmd
	b.Cleanup(func() {
		hold.Close()
		for _, cmd := range crowd {
			_ = cmd.Wait()
		}
	})
	for range n - table.Len() {
		cmd := exec.Command("cat")
		cmd.Stdin = stdin
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		crowd = append(crowd, cmd)
	}
	stdin.Close()
}
