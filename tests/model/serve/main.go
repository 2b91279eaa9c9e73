// Command serve runs the tests' model server by hand: it prints its address, then one JSON line for each request.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"agentctl/tests/model"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	flag.Parse()
	if err := serve(*addr); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func serve(addr string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := model.Start(addr)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, s.URL)
	out := json.NewEncoder(os.Stdout)
	_, _ = s.WaitRequest(ctx, func(q model.Request) bool {
		q.Body = nil
		return out.Encode(q) != nil // print each, end when nobody reads
	})
	return s.Close()
}
