package e2e_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
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

// listen is the program of a server that a tool starts: it listens on a port, says in a file on which, and lives on.
func listen(file string) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return printError(err)
	}
	draft := file + ".draft" // whoever waits for the file finds it whole
	if err := os.WriteFile(draft, fmt.Appendln(nil, l.Addr().(*net.TCPAddr).Port), 0o600); err != nil {
		return printError(err)
	}
	if err := os.Rename(draft, file); err != nil {
		return printError(err)
	}
	for {
		if _, err := l.Accept(); err != nil {
			return printError(err)
		}
	}
}

// stored is the program that prints what a session was asked last, as its agent has stored it.
func stored(id string) int {
	text, err := newestPrompt(os.Getenv("HOME"), id)
	if err != nil {
		return printError(err)
	}
	fmt.Print(text)
	return 0
}

// newestPrompt reads from the agents' stores what a session was asked last.
func newestPrompt(home, id string) (text string, err error) {
	for _, pattern := range []string{".claude/projects/*/" + id + ".jsonl", ".codex/sessions/*/*/*/rollout-*-" + id + ".jsonl"} {
		found, err := filepath.Glob(filepath.Join(home, pattern))
		if err != nil || len(found) == 1 {
			return promptInLines(found, err)
		}
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(home, ".local/share/opencode/opencode.db")+"?mode=ro")
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.QueryRow(`select json_extract(part.data, '$.text') from message join part on message_id = message.id
		where message.session_id = ? and json_extract(message.data, '$.role') = 'user' order by message.time_created desc, message.id desc limit 1`,
		id).Scan(&text)
	return text, err
}

// promptInLines finds it in a transcript or a rollout.
func promptInLines(files []string, err error) (text string, _ error) {
	if err != nil {
		return "", err
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		return "", err
	}
	found := false
	for line := range bytes.Lines(raw) {
		var r struct {
			Type    string
			Message struct{ Content any }
			Payload struct {
				Item struct {
					Type    string
					Content []struct{ Text string }
				}
			}
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return "", err
		}
		if s, ok := r.Message.Content.(string); ok && r.Type == "user" {
			text, found = s, true
		}
		if item := r.Payload.Item; item.Type == "UserMessage" && len(item.Content) == 1 {
			text, found = item.Content[0].Text, true
		}
	}
	if !found {
		return "", fmt.Errorf("%s holds no prompt", files[0])
	}
	return text, nil
}
