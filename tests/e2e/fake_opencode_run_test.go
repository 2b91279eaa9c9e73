package e2e_test

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"agentctl/tests/directive"
)

// What `opencode run` of 1.18 takes.
const (
	openCodeValued = " --format --title -m --model -s --session --agent --variant -f --file --dir --log-level "
	openCodePlain  = " --auto --fork -c --continue --print-logs --thinking "
)

func (o *openCode) accept(args []string, stdin string) (string, error) {
	set, unknown := parseOptions(args, openCodeValued, openCodePlain)
	o.json, o.title = set.first("--format") == "json", set.first("--title")
	if provider, model, ok := strings.Cut(set.first("-m", "--model"), "/"); ok {
		o.provider, o.model = provider, model
	}
	if err := o.settle(set.first("--dir")); err != nil {
		return "", err
	}
	prompt := message(set.words[min(1, len(set.words)):], stdin)
	if unknown != "" || len(set.words) == 0 || set.words[0] != "run" {
		return "", refusal{1, "opencode run [message..]\n\nrun opencode with a message"}
	}
	return prompt, o.choose(set.first("-s", "--session"), set.first("--fork") != "")
}

// settle finds out where the session works: the agent believes its environment more than the kernel.
func (o *openCode) settle(dir string) error {
	if dir = cmp.Or(dir, os.Getenv("PWD")); dir == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(dir)
	o.cwd = real
	return err
}

// message puts the words of the command line together with what stands on stdin.
func message(words []string, stdin string) string {
	var parts []string
	for _, w := range words {
		if strings.Contains(w, " ") {
			w = `"` + strings.ReplaceAll(w, `"`, `\"`) + `"`
		}
		parts = append(parts, w)
	}
	if len(parts) == 0 || stdin == "" {
		return strings.Join(parts, " ") + stdin
	}
	return strings.Join(parts, " ") + "\n" + stdin
}

// choose finds the session to go on with. In another directory than the session's own the turn is done all the same,
// but the process never ends.
func (o *openCode) choose(id string, fork bool) error {
	if id == "" {
		return nil
	}
	if err := o.open(); err != nil {
		return err
	}
	var dir, title string
	err := o.db.QueryRow("select directory, title from session where id = ?", id).Scan(&dir, &title)
	if errors.Is(err, sql.ErrNoRows) {
		return refusal{1, "Error: Session not found"}
	}
	o.stuck = dir != o.cwd
	if o.cwd = dir; fork {
		o.fork, o.title = id, title+" (fork #1)"
	} else {
		o.id = id
	}
	return err
}

// appear opens the database and the log. The process is known by them; its session is only once it is stored.
func (o *openCode) appear() error { return o.open() }

func (o *openCode) record(prompt string) error {
	if o.id == "" {
		if _, err := o.begin(); err != nil {
			return err
		}
		if err := o.copy(o.fork); err != nil {
			return err
		}
	}
	return o.prompt(prompt)
}

// copy takes over the messages of the session that this one is a fork of.
func (o *openCode) copy(from string) error {
	_, err := o.db.Exec(`insert into message select replace(id, 'msg_', 'msg_f'), ?, time_created, time_updated, data
		from message where session_id = ?`, o.id, from)
	_, partsErr := o.db.Exec(`insert into part select replace(id, 'prt_', 'prt_f'), replace(message_id, 'msg_', 'msg_f'), ?,
		time_created, time_updated, data from part where session_id = ?`, o.id, from)
	return errors.Join(err, partsErr)
}

func (o *openCode) tool(command string) error {
	return errors.Join(o.event("step_start", object{}), o.call(command, object{"output", ""}))
}

func (o *openCode) result(string) error {
	_, err := o.db.Exec(`update part set data = json_set(data, '$.state.status', 'completed'), time_updated = ?
		where message_id = ? and json_extract(data, '$.type') = 'tool'`, now(), o.answer)
	return err
}

// event prints a line of JSON, where that was asked for.
func (o *openCode) event(kind string, more object) error {
	if !o.json {
		return nil
	}
	_, err := os.Stdout.Write(lines(append(object{"type", kind, "timestamp", now(), "sessionID", o.id}, more...)))
	return err
}

func (o *openCode) finish(text string, failed bool) (code int, err error) {
	if failed {
		failure := object{"name", "APIError", "data", object{"message", text, "statusCode", 400}}
		err = errors.Join(o.complete(object{"error", failure}, ""), o.event("error", object{"error", failure}))
		if !o.json {
			fmt.Fprintln(os.Stderr, "Error: "+text)
		}
		return 1, err
	}
	err = errors.Join(o.complete(object{"finish", "stop"}, text), o.event("text", object{"part", object{"type", "text", "text", text}}))
	if !o.json {
		fmt.Println(text)
	}
	if o.stuck {
		err = errors.Join(err, wait(&directive.Pause{}))
	}
	return 0, err
}

func (o *openCode) markers() []string {
	return []string{"AGENT=1", "OPENCODE=1", fmt.Sprintf("OPENCODE_PID=%d", os.Getpid())}
}

// handledSignals returns none: any signal ends a headless process at once, and its tools live on.
func (o *openCode) handledSignals() []os.Signal { return nil }

func (o *openCode) onSignal(syscall.Signal, func() bool) {}
