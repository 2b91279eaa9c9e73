package sshd_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestMain runs the tests, or is the program `relay DELAY COMMAND…`: what a command reads and prints takes that long on its way.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "relay" {
		if err := relay(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, "relay:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func relay(delay string, argv []string) error {
	d, err := time.ParseDuration(delay)
	if err != nil {
		return err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		passOn(in, os.Stdin, d)
		_ = in.Close()
	}()
	passOn(os.Stdout, out, d)
	return cmd.Wait()
}

// passOn copies a stream. Each part arrives as long after it was sent as the delay, however many are on their way.
func passOn(to io.Writer, from io.Reader, delay time.Duration) {
	type part struct {
		due  time.Time
		data []byte
	}
	parts := make(chan part, 1024)
	go func() {
		defer close(parts)
		for {
			buffer := make([]byte, 64<<10)
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			parts <- part{time.Now().Add(delay), buffer[:n]}
		}
	}()
	for p := range parts {
		<-time.After(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			return
		}
	}
}
