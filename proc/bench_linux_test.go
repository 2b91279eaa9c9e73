package proc

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkReadTable reads a table of at least 2,000 processes and compares it with ps. The aim is a fifth of the time of
// ps. On a busy machine, compare the processor time, cpu-ns/op.
func BenchmarkReadTable(b *testing.B) {
	crowd(b, 2000)
	b.Run("take", func(b *testing.B) {
		b.ReportAllocs()
		begin := cpu(b, unix.RUSAGE_SELF)
		for b.Loop() {
			if _, err := ReadTable(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(cpu(b, unix.RUSAGE_SELF)-begin)/float64(b.N), "cpu-ns/op")
	})
	b.Run("ps", func(b *testing.B) {
		begin := cpu(b, unix.RUSAGE_CHILDREN)
		for b.Loop() {
			if err := exec.Command("ps", "-eo", "pid,ppid,comm").Run(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(cpu(b, unix.RUSAGE_CHILDREN)-begin)/float64(b.N), "cpu-ns/op")
	})
}

// cpu is the processor time used so far, in nanoseconds.
func cpu(b *testing.B, who int) int64 {
	var use unix.Rusage
	if err := unix.Getrusage(who, &use); err != nil {
		b.Fatal(err)
	}
	return use.Utime.Nano() + use.Stime.Nano()
}

// crowd fills the process table up to n processes until the benchmark ends. They wait for the end of their input.
func crowd(b *testing.B, n int) {
	table, err := ReadTable(b.Context())
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
