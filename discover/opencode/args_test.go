package opencode

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseArgs(t *testing.T) {
	const id = "ses_e05979612ffe415jjjmvTetWgF"
	for line, want := range map[string]commandLine{
		"":                                   {mode: modeTUI},
		"/some/project":                      {mode: modeTUI},
		"-s " + id:                           {mode: modeTUI, session: id, resumes: true},
		"-c --fork":                          {mode: modeTUI},
		"-m a/b run -s " + id + " hi there":  {mode: modeRun, name: "run", session: id, resumes: true, promptArgs: []string{"hi", "there"}},
		"run --session=" + id + " --fork x":  {mode: modeRun, name: "run", promptArgs: []string{"x"}},
		"run --title T -f a.txt x -- --help": {mode: modeRun, name: "run", promptArgs: []string{"x", "--help"}},
		"run --log-level ERROR x":            {mode: modeRun, name: "run", promptArgs: []string{"x"}},
		"--print-logs serve --port 1":        {mode: modeServer, name: "serve"},
		"serve --service":                    {mode: modeServer, name: "serve", v2Service: true},
		"acp --cwd /x":                       {mode: modeServer, name: "acp"},
		"run --attach=http://h x":            {mode: modeNone, name: "run", promptArgs: []string{"x"}},
		"attach http://h -s " + id:           {mode: modeNone, name: "attach", session: id, resumes: true, promptArgs: []string{"http://h"}},
		"session list":                       {mode: modeNone, name: "session", promptArgs: []string{"list"}},
		"--model":                            {mode: modeTUI},
		"run -s":                             {mode: modeRun, name: "run"},
	} {
		if got := parseArgs(strings.Fields(line)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q\ngot  %+v\nwant %+v", line, got, want)
		}
	}
}
