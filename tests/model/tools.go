package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"agentctl/tests/directive"
)

// object is a JSON object.
type object map[string]any

// hour is the longest that a shell tool may be told to wait, in milliseconds; no test comes near it.
const hour = 3_600_000

// halfHour is long as milliseconds, of which OpenCode's shell tool takes any number, and no more than Pi's takes as seconds.
const halfHour = 2_000_000

// callFor finds the tool that does what the step asks, among those that the agent offers.
func (t turn) callFor(s directive.Step) (*call, error) {
	switch s.Verb {
	case "shell":
		return t.shell(s.Arg, nil)
	case "escalate":
		return t.shell(s.Arg, object{"sandbox_permissions": "require_escalated", "justification": "The test asks for it."})
	case "agent":
		return t.subagent(s.Arg)
	case "question":
		return t.question(s.Arg)
	case "tool":
		name, raw, _ := strings.Cut(s.Arg, " ")
		return rawCall(name, firstOf(strings.TrimSpace(raw), "{}"))
	}
	return nil, errors.New("no such directive")
}

// option is a tool by name with the arguments it would get.
type option struct {
	name string
	args object
}

// pick calls the first of the options that the agent offers.
func (t turn) pick(options ...option) (*call, error) {
	for _, o := range options {
		for _, offered := range t.tools {
			if offered.name != o.name {
				continue
			}
			raw, err := json.Marshal(o.args)
			return &call{offered, raw}, err
		}
	}
	return nil, fmt.Errorf("the agent offers no tool for it, only %v", t.tools)
}

// shell names the shell tool of Claude Code (Bash), OpenCode, Pi and Copilot CLI (bash) and Codex (exec_command, and
// shell_command before it). Escalation is Codex's alone: the others ask by their own rules.
func (t turn) shell(command string, escalation object) (*call, error) {
	with := func(a object) object {
		maps.Copy(a, escalation)
		return a
	}
	return t.pick(
		option{"Bash", object{"command": command, "description": "a command", "timeout": 600_000}},
		option{"bash", object{"command": command, "description": "a command", "timeout": halfHour}},
		option{"exec_command", with(object{"cmd": command, "yield_time_ms": hour})},
		option{"shell_command", with(object{"command": command, "timeout_ms": hour})},
	)
}

// subagent names the tool that starts a sub-agent: Agent or Task (Claude Code), task (OpenCode, Copilot CLI), spawn_agent
// (Codex).
func (t turn) subagent(prompt string) (*call, error) {
	general := object{"description": "a subtask", "prompt": prompt, "subagent_type": "general-purpose"}
	return t.pick(
		option{"Agent", general},
		option{"Task", general},
		option{"task", object{"description": "a subtask", "prompt": prompt, "subagent_type": "general", "name": "subtask", "agent_type": "general-purpose"}},
		option{"spawn_agent", object{"message": prompt, "task_name": "subtask"}},
	)
}

// question names the tool that asks the user: AskUserQuestion (Claude Code), question (OpenCode),
// request_user_input (Codex), ask_user (Copilot CLI).
func (t turn) question(text string) (*call, error) {
	options := []object{{"label": "Yes", "description": "do it"}, {"label": "No", "description": "leave it"}}
	return t.pick(
		option{"AskUserQuestion", object{"questions": []object{{"question": text, "header": "Choice", "multiSelect": false, "options": options}}}},
		option{"question", object{"questions": []object{{"question": text, "header": "Choice", "options": options}}}},
		option{"ask_user", object{"message": text, "requestedSchema": object{
			"type": "object", "properties": object{"choice": object{"type": "string", "enum": []string{"Yes", "No"}}},
		}}},
		option{"request_user_input", object{"questions": []object{{"id": "choice", "question": text, "header": "Choice", "options": options}}}},
	)
}

// rawCall calls any tool, "namespace/name" too, with the given JSON arguments.
func rawCall(name, raw string) (*call, error) {
	if !json.Valid([]byte(raw)) {
		return nil, fmt.Errorf("%s is not JSON", raw)
	}
	namespace, short, found := strings.Cut(name, "/")
	if !found {
		namespace, short = "", name
	}
	return &call{tool{namespace, short}, json.RawMessage(raw)}, nil
}

// stillRunning is what Codex's exec_command says when it returns before its command has ended.
var stillRunning = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`running with session ID (\d+)`)
})

// poll goes on waiting for a command that Codex has put in the background: exec_command returns after some
// seconds whatever it was told, and the step is over only when its command is.
func (t turn) poll(last item) *call {
	m := stillRunning().FindStringSubmatch(last.text)
	if m == nil || !last.result || !t.has("write_stdin") {
		return nil
	}
	raw := fmt.Sprintf(`{"session_id":%s,"chars":"","yield_time_ms":%d}`, m[1], hour)
	return &call{tool{name: "write_stdin"}, json.RawMessage(raw)}
}
