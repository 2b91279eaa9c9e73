// Store makes a store of made-up sessions of all three agents, the same for the same seed:
//
//	go run ./tests/store -n 1000 -o DIR -seed 1
//
// DIR is then fit to be a HOME. See package generate for what is in it.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"agentctl/tests/store/generate"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "store:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	o := generate.Defaults()
	flags := flag.NewFlagSet("store", flag.ExitOnError)
	dir := flags.String("o", "", "the `directory` to make the homes in (required)")
	flags.IntVar(&o.Sessions, "n", o.Sessions, "number of sessions")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "seed of all that is random")
	_ = flags.Parse(args) // it exits by itself
	if *dir == "" {
		return fmt.Errorf("-o DIR is required")
	}
	began := time.Now()
	list, err := generate.Store(*dir, o)
	if err != nil {
		return err
	}
	var bytes int
	for _, s := range list {
		bytes += s.Bytes
	}
	fmt.Printf("%d sessions, %.1f MB, in %s\n", len(list), float64(bytes)/1e6, time.Since(began).Round(time.Millisecond))
	return nil
}
