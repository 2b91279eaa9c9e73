package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// Confirm shows on the terminal what a question is about, and asks. Any answer but yes is a no, whose error says that nothing was
// done.
func (f Factory) Confirm(ctx context.Context, question, nothingDone string, show func(io.Writer) error) error {
	if err := show(f.Stderr); err != nil {
		return err
	}
	fmt.Fprintf(f.Stderr, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(f.Stdin).ReadString('\n') // its end is a no
		answer <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case a := <-answer:
		if a != "y" && a != "yes" {
			return AnswerNo(nothingDone)
		}
	}
	return nil
}
