package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"agentctl/proc/multiplexer"
)

// kittyWindow is a window of the operating system in the output of `kitty @ ls`. The windows of its tabs are what this program calls
// panes.
type kittyWindow struct {
	Tabs []struct {
		ID      int `json:"id"`
		Windows []struct {
			ID  int `json:"id"`
			PID int `json:"pid"`
		} `json:"windows"`
	} `json:"tabs"`
}

// locateKitty finds the pane by its number, and checks the process that kitty started in it. kitty answers only where its
// configuration has allow_remote_control and listen_on.
func locateKitty(ctx context.Context, g Guide, p multiplexer.Pane) (multiplexer.Pane, error) {
	if p.Address == "" {
		return p, errors.New("it listens on no socket; set listen_on in kitty.conf")
	}
	if err := verifySocket(ctx, strings.TrimPrefix(p.Address, "unix:"), p); err != nil {
		return p, err
	}
	out, err := g.ask(ctx, nil, "kitty", "@", "--to", p.Address, "ls")
	if err != nil {
		return p, err
	}
	var windows []kittyWindow
	if err := json.Unmarshal([]byte(out), &windows); err != nil {
		return p, fmt.Errorf("kitty @ ls: %w", err)
	}
	for _, w := range windows {
		for _, tab := range w.Tabs {
			for _, pane := range tab.Windows {
				if strconv.Itoa(pane.ID) == p.Pane && pane.PID == p.Leader.ID.PID {
					p.Window = strconv.Itoa(tab.ID)
					return p, nil
				}
			}
		}
	}
	return p, ErrNotThere
}

// wayKitty gives the pane the focus, in its tab and its window.
func wayKitty(g Guide, to multiplexer.Pane, _ bool) (Way, error) {
	line, err := g.program("kitty", "@", "--to", to.Address, "focus-window", "--match", "id:"+to.Pane)
	return Way{Select: [][]string{line}}, err
}
