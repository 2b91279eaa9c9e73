package model

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// client sends requests to a server of its own.
type client struct {
	*testing.T
	server *Server
}

func start(t *testing.T) client {
	t.Helper()
	s, err := Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return client{t, s}
}

func (c client) post(ctx context.Context, path string, body object) *http.Response {
	c.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		c.Fatal(err)
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server.URL+path, strings.NewReader(string(raw)))
	if err != nil {
		c.Fatal(err)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = r.Body.Close() })
	return r
}

// claude is a request as Claude Code sends it, with the results of the tools that ran since the prompt.
func claude(prompt string, results ...string) object {
	messages := []object{{"role": "user", "content": []object{
		{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": prompt},
	}}}
	for _, r := range results {
		messages = append(messages,
			object{"role": "assistant", "content": []object{{"type": "tool_use", "id": "1", "name": "Bash", "input": object{}}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "1", "content": r}}})
	}
	tools := []object{{"name": "Bash"}, {"name": "Task"}, {"name": "AskUserQuestion"}}
	return object{"model": "m", "stream": true, "tools": tools, "messages": messages}
}

// codex is a request as Codex sends it.
func codex(prompt string, more ...object) object {
	message := func(text string) object {
		return object{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": text}}}
	}
	input := append([]object{message("<environment_context>x</environment_context>"), message(prompt)}, more...)
	return object{"model": "m", "stream": true, "input": input, "tools": []object{
		{"type": "function", "name": "exec_command"},
		{"type": "function", "name": "write_stdin"},
		{"type": "namespace", "name": "multi_agent_v1", "tools": []object{{"type": "function", "name": "spawn_agent"}}},
	}}
}

// event is one server-sent event, of either API.
type event struct {
	Type         string
	Message      struct{ Model string }
	ContentBlock block `json:"content_block"`
	Delta        json.RawMessage
	Item         struct{ Type, Name, Namespace, Arguments string }
	Response     struct {
		Status string
		Error  struct{ Code string }
	}
}

func (c client) events(r *http.Response) []event {
	c.Helper()
	list, err := readEvents(r.Body)
	if err != nil {
		c.Fatalf("after %d events: %v", len(list), err)
	}
	return list
}

func readEvents(r io.Reader) ([]event, error) {
	var list []event
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return list, err
		}
		list = append(list, e)
	}
	return list, lines.Err()
}

// said joins the text deltas; used are the names and arguments of the tools called.
func said(list []event) (text string, used []string) {
	for _, e := range list {
		var anthropic struct {
			Text        string
			PartialJSON string `json:"partial_json"`
		}
		var plain string
		switch e.Type {
		case "content_block_start":
			if e.ContentBlock.Type == "tool_use" {
				used = append(used, "")
			}
		case "content_block_delta":
			_ = json.Unmarshal(e.Delta, &anthropic)
			text += anthropic.Text
			if len(used) > 0 {
				used[len(used)-1] += anthropic.PartialJSON
			}
		case "response.output_text.delta":
			_ = json.Unmarshal(e.Delta, &plain)
			text += plain
		case "response.output_item.done":
			if e.Item.Type == "function_call" {
				used = append(used, e.Item.Namespace+" "+e.Item.Name+" "+e.Item.Arguments)
			}
		}
	}
	return text, used
}

func TestAnswers(t *testing.T) {
	result := func(callID, output string) object {
		return object{"type": "function_call_output", "call_id": callID, "output": output}
	}
	tests := []struct {
		name, path string
		body       object
		text, tool string
	}{
		{"messages: no directive", "/v1/messages", claude("hello"), "OK: hello", ""},
		{"messages: text", "/v1/messages", claude("x [[text hi there]]"), "hi there", ""},
		{"messages: shell", "/v1/messages", claude("[[shell ls -l;; text end]]"), "I use a tool.", `"command":"ls -l"`},
		{"messages: second step", "/v1/messages", claude("[[shell ls;; text end]]", "out"), "end", ""},
		{"messages: past the last step", "/v1/messages", claude("[[shell ls]]", "out"), "done: out", ""},
		{"messages: sub-agent", "/v1/messages", claude("[[agent [[text x]]]]"), "I use a tool.", `"prompt":"[[text x]]"`},
		{"messages: question", "/v1/messages", claude("[[question Which?]]"), "I use a tool.", `"question":"Which?"`},
		{"messages: any tool", "/v1/messages", claude(`[[tool Edit {"a":1}]]`), "I use a tool.", `{"a":1}`},
		{"messages: thinking", "/v1/messages", claude("[[think hard]]"), "I have thought.", ""},
		{"messages: slow", "/v1/messages", claude("[[slow 3 1ms]]"), "word word word ", ""},
		{"messages: hang", "/v1/messages", claude("[[hang 1ms]]"), "Partial text. Hang over.", ""},
		{"messages: delay", "/v1/messages", claude("[[delay 1ms at last]]"), "at last", ""},
		{"responses: no directive", "/v1/responses", codex("hello"), "OK: hello", ""},
		{"responses: text", "/v1/responses", codex("[[text hi]]"), "hi", ""},
		{"responses: shell", "/v1/responses", codex("[[shell ls]]"), "I use a tool.", `exec_command {"cmd":"ls"`},
		{"responses: escalate", "/v1/responses", codex("[[escalate ls]]"), "I use a tool.", `"sandbox_permissions":"require_escalated"`},
		{"responses: sub-agent", "/v1/responses", codex("[[agent x]]"), "I use a tool.", `multi_agent_v1 spawn_agent {"message":"x"`},
		{
			"responses: second step", "/v1/responses",
			codex("[[shell ls;; text end]]", result("1", "out")), "end", "",
		},
		{
			"responses: a command in the background is awaited", "/v1/responses",
			codex("[[shell ls;; text end]]", result("1", "Process running with session ID 7")), "", `write_stdin {"session_id":7`,
		},
		{
			"responses: once it is over, the next step", "/v1/responses",
			codex("[[shell ls;; text end]]", result("1", "Process running with session ID 7"),
				object{"type": "function_call", "call_id": "2", "name": "write_stdin"}, result("2", "exited")), "end", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t)
			r := c.post(t.Context(), tt.path, tt.body)
			text, used := said(c.events(r))
			if r.StatusCode != http.StatusOK || text != tt.text || !strings.Contains(strings.Join(used, ""), tt.tool) || (tt.tool == "") != (used == nil) {
				t.Errorf("status %d, said %q, used %q; want %q and %q", r.StatusCode, text, used, tt.text, tt.tool)
			}
		})
	}
}

func TestHTTPErrors(t *testing.T) {
	for _, tt := range []struct {
		path, want string
		body       object
		status     int
	}{
		{"/v1/messages", "overloaded_error", claude("[[error 529]]"), 529},
		{"/v1/messages", "authentication_error", claude("[[error 401]]"), 401},
		{"/v1/messages", "odd_error", claude("[[error 500 odd_error]]"), 500},
		{"/v1/messages", "no such directive", claude("[[nonsense]]"), 400},
		{"/v1/responses", "rate_limit_error", codex("[[error 429]]"), 429},
		{"/v1/responses", "offers no tool", codex("[[background x]]"), 400},
		{"/v1/nothing", "no such path", object{}, 404},
	} {
		c := start(t)
		r := c.post(t.Context(), tt.path, tt.body)
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != tt.status || !strings.Contains(string(raw), tt.want) {
			t.Errorf("%s %v: status %d, %s, %v; want %d and %q", tt.path, tt.body, r.StatusCode, raw, err, tt.status, tt.want)
		}
	}
}

func TestWholeAnswer(t *testing.T) {
	c := start(t)
	body := claude("[[shell ls]]")
	body["stream"] = false
	var m struct {
		Role       string
		StopReason string `json:"stop_reason"`
		Content    []struct{ Type, Name string }
	}
	if err := json.NewDecoder(c.post(t.Context(), "/v1/messages", body).Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	if m.Role != "assistant" || m.StopReason != "tool_use" || len(m.Content) != 2 || m.Content[1].Name != "Bash" {
		t.Errorf("got %+v", m)
	}
}

func TestCountTokens(t *testing.T) {
	c := start(t)
	var count struct {
		InputTokens int `json:"input_tokens"`
	}
	if err := json.NewDecoder(c.post(t.Context(), "/v1/messages/count_tokens", claude("x")).Body).Decode(&count); err != nil || count.InputTokens < 1 {
		t.Errorf("got %d, %v", count.InputTokens, err)
	}
}

func TestSideRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		system, prompt, want string
	}{
		"claude title":   {"Write a title. Return JSON.", "[[shell rm -r x]]", `{"title"`},
		"opencode title": {"You are a title generator.", "Generate a title: [[hang]]", "A title"},
		"summary":        {"", "Your task is to create a detailed summary of it", "<summary>"},
		"other":          {"Say whether x.", "[[hang]]", "OK"},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			body := claude(tt.prompt)
			delete(body, "tools")
			body["system"] = tt.system
			text, used := said(c.events(c.post(t.Context(), "/v1/messages", body)))
			if !strings.HasPrefix(text, tt.want) || used != nil || !c.server.Requests()[0].Side {
				t.Errorf("said %q, used %v; want %q", text, used, tt.want)
			}
		})
	}
}

func TestBadEndings(t *testing.T) {
	for path, build := range map[string]func(string, ...object) object{
		"/v1/responses": codex,
		"/v1/messages":  func(p string, _ ...object) object { return claude(p) },
	} {
		c := start(t)
		list := c.events(c.post(t.Context(), path, build("[[fail context_length_exceeded]]")))
		if last := list[len(list)-1]; last.Type != "error" && last.Response.Error.Code != "context_length_exceeded" {
			t.Errorf("%s: failed with %+v", path, last)
		}
		list, err := readEvents(c.post(t.Context(), path, build("[[cut]]")).Body)
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(list) == 0 {
			t.Errorf("%s: cut after %d events with %v", path, len(list), err)
		}
	}
}

// Codex wants its titles after a schema, and sends its own instructions as a message.
func TestCodexTitle(t *testing.T) {
	c := start(t)
	body := codex("Generate a title. User prompt: [[hang]]")
	body["tools"] = []object{}
	body["text"] = object{"format": object{"type": "json_schema"}}
	body["input"] = append(body["input"].([]object), object{"type": "message", "role": "developer", "content": "You are an agent."})
	text, _ := said(c.events(c.post(t.Context(), "/v1/responses", body)))
	if text != `{"title": "A title"}` || !c.server.Requests()[0].Side {
		t.Errorf("said %q", text)
	}
}

// A hang is over when its gate is released, and when its client goes: then the server has nothing left to wait for.
func TestHangEnds(t *testing.T) {
	for path, build := range map[string]func(string, ...object) object{
		"/v1/responses": codex,
		"/v1/messages":  func(p string, _ ...object) object { return claude(p) },
	} {
		c := start(t)
		r := c.post(t.Context(), path, build("[[hang @go]]"))
		c.server.Release("go")
		if text, _ := said(c.events(r)); text != "Partial text. Hang over." {
			t.Errorf("%s: released, it said %q", path, text)
		}

		ctx, leave := context.WithCancel(t.Context())
		r = c.post(ctx, path, build("[[hang]]"))
		leave()
		if _, err := io.ReadAll(r.Body); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: reading after leaving: %v", path, err)
		}
		whole, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := c.server.http.Shutdown(whole); err != nil {
			t.Errorf("%s: an answer still hangs: %v", path, err)
		}
	}
}

func TestWaitRequest(t *testing.T) {
	c := start(t)
	found := make(chan Request)
	go func() {
		q, _ := c.server.WaitRequest(t.Context(), func(q Request) bool { return q.Prompt == "second" })
		found <- q
	}()
	c.post(t.Context(), "/v1/messages", claude("first"))
	c.post(t.Context(), "/v1/messages", claude("second", "out"))
	if q := <-found; q.API != "messages" || q.Step != 1 || q.Model != "m" || len(q.Tools) != 3 {
		t.Errorf("got %+v", q)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.server.WaitRequest(gone, func(Request) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}
