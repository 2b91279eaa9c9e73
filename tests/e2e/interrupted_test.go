package e2e_test

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
)

// interrupted is a program that says of each SIGINT the how manyth it is, until it is given a line.
func interrupted() {
	signals, line := make(chan os.Signal, 8), make(chan struct{})
	signal.Notify(signals, os.Interrupt)
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // its end is an end as well
		close(line)
	}()
	fmt.Println("ready")
	for n := 1; ; n++ {
		select {
		case <-signals:
			fmt.Printf("interrupt %d.\n", n)
		case <-line:
			fmt.Println(n-1, "in all")
			return
		}
	}
}
