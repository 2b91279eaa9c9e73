package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/remote"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/lock/githooks"
)

func completionCommand(f Env) *cli.Command {
	return &cli.Command{
		Usage:              "print a completion script for bash, zsh, fish or PowerShell",
		UsageText:          "agentctl completion bash|zsh|fish|powershell",
		ArgsUsage:          "SHELL",
		CustomHelpTemplate: HelpTemplate("source <(agentctl completion bash)", "agentctl completion fish | source"),
		Action: WithArgument("a shell: bash, zsh, fish or powershell", func(_ context.Context, shell string) error {
			script, ok := scripts()[shell]
			if !ok {
				return UnknownWord("shell", shell, shells())
			}
			_, err := io.WriteString(f.Stdout, script)
			return err
		}),
	}
}

// NewComplete makes the hidden command that the completion scripts call: `agentctl __complete SHELL …`. The form of the
// further arguments depends on the shell (see [completer.complete]). It prints the candidates, and never fails: a command line
// that cannot be completed has none.
func NewComplete(f Env, verbs func() []Verb) *cli.Command {
	return &cli.Command{
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) == 0 {
				return nil
			}
			_, err := io.WriteString(f.Stdout, completer{c.Context, f, verbs()}.complete(args[0], args[1:]))
			return err
		},
	}
}

// complete answers the completion script of a shell. Every record ends with a NUL.
//
// Zsh and fish give the words up to the cursor without their quotes, the last one unfinished, and quote what they insert. For
// zsh words and descriptions come in turn. For fish a word has a tab and its description behind it. PowerShell gives the words in one
// argument with a line feed between them, since versions before 7.3 do not pass on an empty argument, and is given the text to
// insert, the word and its description in turn: it inserts the text as it is, so it is quoted here, as for bash (see [bashRequest]).
func (c completer) complete(shell string, args []string) string {
	words := args
	var record func(word, about string) string
	switch shell {
	case "bash":
		words, record = bashRequest(args)
	case "zsh":
		record = func(word, about string) string { return word + "\x00" + about + "\x00" }
	case "fish":
		record = func(word, about string) string { return strings.TrimSuffix(word+"\t"+about, "\t") + "\x00" }
	case "powershell":
		words = strings.Split(strings.Join(args, "\n"), "\n")
		record = func(word, about string) string { // an empty text of a result is an error in PowerShell
			return powerShellQuoted(word) + "\x00" + word + "\x00" + cmp.Or(about, word) + "\x00"
		}
	}
	if record == nil || len(words) == 0 {
		return ""
	}
	var b strings.Builder
	for _, o := range c.candidates(words) {
		if strings.HasPrefix(o.text, words[len(words)-1]) && strings.IndexFunc(o.text, unprintable) < 0 {
			b.WriteString(record(o.text, render.Sanitize(o.description)))
		}
	}
	return b.String()
}

// unprintable reports whether a word with this character is not offered: only some shells could insert it.
func unprintable(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }

func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// scripts returns the script of each shell. It gives the words before the cursor, the last one unfinished, to `agentctl
// __complete SHELL`, and offers the answer in its order, or files if there is none. Inserted words are quoted: by the
// shell, for bash and PowerShell by agentctl. What agentctl prints is never evaluated.
func scripts() map[string]string {
	return map[string]string{
		"bash": `# bash completion for agentctl: source <(agentctl completion bash)
_agentctl() {
    local IFS= word about words=() abouts=() i
    while read -r -d '' word && read -r -d '' about; do
        words+=("$word") abouts+=("$about")
    done < <("${COMP_WORDS[0]}" __complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    COMPREPLY=("${words[@]}")
    compopt -o nosort 2>/dev/null # bash 4.4 or newer
    if ((${#words[@]} > 1)) && [[ $COMP_TYPE == 63 ]]; then
        # Only a list is shown: add the descriptions. Nothing of it is inserted.
        for i in "${!words[@]}"; do
            [[ -z ${abouts[i]} ]] || COMPREPLY[i]="${words[i]}  (${abouts[i]})"
        done
    fi
}
complete -o default -F _agentctl agentctl
`,
		"zsh": `#compdef agentctl
# zsh completion for agentctl: source <(agentctl completion zsh)
_agentctl() {
    local word about typed=${(Q)PREFIX}
    local -a offers
    case $compstate[quote] in
        \') typed=$PREFIX ;;
        \") typed=${(Q)${:-\"$PREFIX\"}} ;;
    esac
    while IFS= read -r -d '' word && IFS= read -r -d '' about; do
        word=${${word//\\/\\\\}//:/\\:}
        offers+=("$word${about:+:$about}")
    done < <("${(Q)words[1]}" __complete zsh "${(@Q)words[2,CURRENT-1]}" "$typed" 2>/dev/null)
    if ((${#offers})); then
        _describe -V agentctl offers
    else
        [[ $PREFIX == --*=* ]] && compset -P '*='
        _files
    fi
}
if [[ $funcstack[1] == _agentctl ]]; then
    _agentctl "$@" # it is a file in $fpath
else
    compdef _agentctl agentctl
fi
`,
		"fish": `# fish completion for agentctl: agentctl completion fish | source
function __agentctl_ask
    set -l words (commandline -opc)
    set -l typed (commandline -ct | string collect)
    set typed (string unescape -- $typed | string collect); or set typed (commandline -ct | string collect)
    set -g __agentctl_offers ($words[1] __complete fish $words[2..] "$typed" 2>/dev/null | string split0)
    test (count $__agentctl_offers) -gt 0
end
complete -c agentctl -n __agentctl_ask -k -f -a '$__agentctl_offers'
`,
		"powershell": `# PowerShell completion for agentctl: agentctl completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName agentctl -ScriptBlock {
    param($typed, $ast, $cursor)
    $words = @($ast.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursor } | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
    $program = $words[0]
    $before = @($words | Select-Object -Skip 1)
    if ($typed -ne '' -and $before.Count -gt 0) { $before = @($before | Select-Object -SkipLast 1) }
    # An argument that is empty is passed on only since PowerShell 7.3: the words are joined by line feeds, with one at the end.
    $answer = & $program __complete powershell (($before + $typed.Trim("'", '"')) -join "` + "`n" + `") 2>$null | Out-String
    $records = $answer.TrimEnd("` + "`r`n" + `").Split([char]0)
    for ($i = 0; $i + 2 -lt $records.Count; $i += 3) {
        [System.Management.Automation.CompletionResult]::new($records[$i], $records[$i + 1], 'ParameterValue', $records[$i + 2])
    }
}
`,
	}
}

// bashRequest takes the command line up to the cursor, as typed, and the end of it that readline replaces (bash's $2,
// which begins after a quote or any of COMP_WORDBREAKS). It returns the words, none if there is nothing to complete, and how to print
// a candidate: the text to insert and its description. Bash inserts the text as it is, so it is quoted here.
func bashRequest(args []string) (words []string, record func(word, about string) string) {
	if len(args) != 2 || !strings.HasSuffix(args[0], args[1]) {
		return nil, nil
	}
	line, kept := args[0], strings.TrimSuffix(args[0], args[1])
	words, start, _ := bashWords(line)
	if len(words) < 2 || len(kept) < start {
		return nil, nil
	}
	stays, _, quote := bashWords(kept[start:])
	return words[1:], func(word, about string) string {
		rest, ok := strings.CutPrefix(word, stays[0])
		if !ok {
			return ""
		}
		return bashQuoted(rest, quote) + "\x00" + about + "\x00"
	}
}

// bashWords splits a line into words without their quotes. The last word, which begins at start, is unfinished; it is
// empty if the line ends between words. quote is the quote that is open at the end: ', ", or 0. Nothing is expanded.
func bashWords(line string) (words []string, start int, quote byte) {
	var word strings.Builder
	inside := false // a word
	for i := 0; i < len(line); i++ {
		c := line[i]
		if quote == 0 && !inside && (c == ' ' || c == '\t' || c == '\n') {
			continue
		}
		if !inside {
			inside, start = true, i
		}
		next := byte(0)
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			words, inside = append(words, word.String()), false
			word.Reset()
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == c && quote != 0:
			quote = 0
		case c == '\\' && next == 0 && quote != '\'': // the character behind it is not typed yet
		case c == '\\' && (quote == 0 || quote == '"' && strings.IndexByte("$`\"\\", next) >= 0):
			word.WriteByte(next)
			i++
		default:
			word.WriteByte(c)
		}
	}
	if !inside {
		start = len(line)
	}
	return append(words, word.String()), start, quote
}

// bashQuoted quotes a text for bash where this quote is open: ', ", or 0 for none. The quote stays open after it.
func bashQuoted(text string, quote byte) string {
	special := map[byte]string{0: " !\"#$&'()*:;<=>?@[\\]^`{|},~", '"': "\"$\\`"}[quote]
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune(special, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case quote == '\'' && r == '\'':
			b.WriteString(`'\''`)
		case quote == '"' && r == '!': // a backslash would stay in front of it
			b.WriteString(`"'!'"`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// powerShellQuoted quotes a text unless PowerShell takes it as it is. In single quotes, only these themselves have a meaning; the
// typographic ones are single quotes to PowerShell too.
func powerShellQuoted(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=+", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.NewReplacer("'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019", "\u201a", "\u201a\u201a", "\u201b", "\u201b\u201b").Replace(text) + "'"
}

// completer completes command lines.
type completer struct {
	ctx   context.Context
	f     Env
	verbs []Verb
}

// candidate is a word that could complete the command line, with its description.
type candidate struct{ text, description string }

// candidates returns the words that could replace the last word.
func (c completer) candidates(words []string) []candidate {
	commands := NewApp(c.f, c.verbs).Commands
	help := words[0] == "help" && len(words) > 1 && !strings.HasPrefix(words[len(words)-1], "-")
	if help {
		words = slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
	}
	var verb *cli.Command
	for ; len(commands) > 0; words = words[1:] {
		if len(words) == 1 {
			return commandCandidates(commands)
		}
		if verb = CommandNamed(commands, words[0]); verb == nil || verb.Hidden {
			return nil
		}
		if commands = verb.Subcommands; len(commands) == 0 {
			break
		}
	}
	if help || slices.Contains(words[:len(words)-1], "--") {
		return nil
	}
	if name, prefix, ok := pendingFlag(verb, words); ok {
		return c.values(verb, name, prefix, strings.TrimPrefix(words[len(words)-1], prefix))
	}
	if strings.HasPrefix(words[len(words)-1], "-") {
		return flagCandidates(verb)
	}
	// No shell's quotes keep an argument that begins with a dash from being read as a flag.
	return slices.DeleteFunc(c.arguments(verb, words), func(o candidate) bool { return strings.HasPrefix(o.text, "-") })
}

// arguments returns the words that could be the argument that is typed last.
func (c completer) arguments(verb *cli.Command, words []string) []candidate {
	first := argumentsBefore(verb, words) == 0
	switch {
	case verb.Name == "completion":
		return candidatesOf("", shells()...)
	case verb.Name == "schema":
		return candidatesOf("", "config")
	case strings.HasPrefix(verb.ArgsUsage, "HOOK ") && first:
		return candidatesOf("", githooks.Names()...)
	case verb.ArgsUsage == "WORKTREE…":
		return c.worktrees()
	case verb.Name == "launch" && first:
		return candidatesOf("", c.f.AgentNames()...)
	case verb.Name == "resume" && first, verb.Name == "rm", verb.Name == "archive", verb.Name == "unarchive":
		return c.sessions(verb, words, discover.SessionFilter{IncludeStopped: true, Statuses: []discover.Status{discover.Stopped}})
	case verb.ArgsUsage == "ID" && verb.Name != "attach", verb.Name == "export":
		return c.sessions(verb, words, discover.SessionFilter{IncludeStopped: true})
	case verb.ArgsUsage == "ID…", verb.Name == "attach", verb.Name == "send" && first: // what is done to live sessions
		return c.sessions(verb, words, discover.SessionFilter{})
	}
	return nil
}

// argumentsBefore counts the words between the verb and the last one that are neither flags nor the values of flags.
func argumentsBefore(verb *cli.Command, words []string) (n int) {
	for i := 1; i < len(words)-1; i++ {
		_, _, value := pendingFlag(verb, words[:i+1])
		if !value && !strings.HasPrefix(words[i], "-") {
			n++
		}
	}
	return n
}

func commandCandidates(commands []*cli.Command) []candidate {
	var out []candidate
	for _, c := range commands {
		if !c.Hidden {
			out = append(out, candidate{c.Name, c.Usage})
		}
	}
	return out
}

func flagCandidates(verb *cli.Command) []candidate {
	var out []candidate
	for _, f := range verb.Flags {
		if d, ok := f.(cli.DocGenerationFlag); ok {
			out = append(out, candidate{FlagText(f.Names()[0]), strings.ReplaceAll(d.GetUsage(), "`", "")})
		}
	}
	return append(out, candidate{"--help", "show help"})
}

// pendingFlag finds the flag whose value is being typed: --flag VALUE or --flag=VALUE. prefix is what precedes the
// value in the same word.
func pendingFlag(verb *cli.Command, words []string) (name, prefix string, ok bool) {
	last, before := words[len(words)-1], words[len(words)-2]
	if flag, _, joined := strings.Cut(last, "="); joined && takesValue(verb, flag) {
		return strings.TrimLeft(flag, "-"), flag + "=", true
	}
	return strings.TrimLeft(before, "-"), "", takesValue(verb, before)
}

func takesValue(verb *cli.Command, word string) bool {
	f := FlagOf(verb, strings.TrimLeft(word, "-"))
	return strings.HasPrefix(word, "-") && f != nil && f.TakesValue()
}

func candidatesOf(prefix string, words ...string) []candidate {
	var out []candidate
	for _, w := range words {
		out = append(out, candidate{prefix + w, ""})
	}
	return out
}

// maxSessions bounds the sessions that are offered, the newest.
const maxSessions = 200

// sessions returns those of a filter, in the order of `list`: those of this machine, or of the host that the words name.
func (c completer) sessions(verb *cli.Command, words []string, filter discover.SessionFilter) []candidate {
	if t, prefix, ok := c.hostOf(verb, words); ok {
		return c.hostSessions(t, prefix, filter)
	}
	filter.Limit = maxSessions
	sessions := SessionObjects(c.recent(filter))
	var out []candidate
	for i, name := range ArgumentsFor(sessions) {
		if name != "" {
			out = append(out, sessionCandidate(name, &sessions[i]))
		}
	}
	return out
}

func sessionCandidate(name string, s *object.Session) candidate {
	return candidate{name, fmt.Sprintf("%s %s: %s", s.Adapter, s.Status, cmp.Or(s.Title, s.Prompt, s.CWD))}
}

// recent returns the sessions of a filter since the time of the configuration; none if they cannot be read.
func (c completer) recent(filter discover.SessionFilter) []discover.Session {
	call, err := c.f.NewCall("__complete", &CommonFlags{}, nil)
	if err == nil {
		filter.Since, err = call.SinceTime("__complete", "")
	}
	if err != nil {
		return nil
	}
	r, _ := call.Scanner.List(c.ctx, filter)
	return r.Sessions
}

// values returns the values of a flag, of which typed is entered; prefix precedes the value in the same word.
func (c completer) values(verb *cli.Command, flag, prefix, typed string) []candidate {
	switch {
	case flag == "from":
		list := c.sessions(verb, []string{typed}, discover.SessionFilter{IncludeStopped: true})
		for i := range list {
			list[i].text = prefix + list[i].text
		}
		return list
	case flag == "group":
		return candidatesOf(prefix, c.groups()...)
	case flag == "host":
		if settings, _, err := c.f.Settings(false); err == nil {
			return listCandidates(prefix, typed, append([]string{remote.Local}, slices.Sorted(maps.Keys(settings.Hosts))...))
		}
	case flag == "adapter" && verb.Name == "launch": // each is a launch of its own: there is no list of several
		return candidatesOf(prefix, c.f.AgentNames()...)
	case flag == "by":
		flag = verb.Name
	}
	lists := map[string][]string{"adapter": c.f.AgentNames(), "status": Statuses(), "type": object.EventTypes()}
	if words := lists[flag]; words != nil {
		return listCandidates(prefix, typed, words)
	}
	return candidatesOf(prefix, map[string][]string{
		"until": States(), "role": Roles(), "as": ExportFormats(), "tools": ExportTools(),
		"usage": UsageGroups(), "du": DiskGroups(), "since": {"1h", "1d", "7d", "30d", "all"},
		"permissions": {string(launch.PermissionsOwn), string(launch.PermissionsEdit), string(launch.PermissionsFull)},
	}[flag]...)
}

// listCandidates completes the last word of a comma-separated list with the words that are not in it yet.
func listCandidates(prefix, typed string, words []string) []candidate {
	i := strings.LastIndexByte(typed, ',') + 1
	have := strings.Split(typed[:i], ",")
	left := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(have, w) })
	return candidatesOf(prefix+typed[:i], left...)
}

// groups returns the launch groups of sessions, and of the worktrees of the current repository, the newest first.
func (c completer) groups() []string {
	var out []string
	add := func(group string) {
		if group != "" && !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	for _, s := range c.recent(discover.SessionFilter{IncludeStopped: true}) {
		add(s.Group)
	}
	for _, w := range c.repositoryWorktrees() {
		add(discover.GroupOfWorktree(w.Branch, w.Path))
	}
	return out
}

// repositoryWorktrees returns the worktrees of the current repository; none if it cannot be read.
func (c completer) repositoryWorktrees() []worktree.Worktree {
	repo, err := c.f.OpenRepository(c.ctx, "worktree clean", ".")
	if err != nil {
		return nil
	}
	list, _ := repo.List(c.ctx)
	return list
}

// worktrees returns the linked worktrees of the current repository, by branch, else by path.
func (c completer) worktrees() (out []candidate) {
	for _, w := range c.repositoryWorktrees() {
		switch {
		case w.Main:
		case w.Branch == "":
			out = append(out, candidate{w.Path, "detached"})
		case strings.HasPrefix(w.Branch, "-"): // it would be read as a flag
			out = append(out, candidate{w.Path, w.Branch})
		default:
			out = append(out, candidate{w.Branch, w.Path})
		}
	}
	return out
}

// hostTime bounds how long a host may take to answer: the user has pressed Tab and waits.
const hostTime = 5 * time.Second

// hostOf returns the host whose sessions complete the typed ID, and what precedes the ID: that of H:ID, or the only one of --host. ok is false
// if it is this machine.
func (c completer) hostOf(verb *cli.Command, words []string) (t remote.Target, prefix string, ok bool) {
	if FlagOf(verb, "host") == nil {
		return t, "", false
	}
	name, _, named := strings.Cut(words[len(words)-1], ":")
	if prefix = name + ":"; !named {
		name, prefix = flagValue(verb, words, "host"), ""
	}
	settings, _, err := c.f.Settings(false)
	if err != nil || remote.CheckName(name) != nil {
		return t, "", false
	}
	t, err = c.f.Target(settings, name)
	return t, prefix, err == nil
}

// flagValue returns the last value of a flag before the last word; "" if there is none.
func flagValue(verb *cli.Command, words []string, flag string) (value string) {
	for i := 1; i < len(words)-1; i++ {
		if name, prefix, ok := pendingFlag(verb, words[:i+1]); ok && name == flag {
			value = strings.TrimPrefix(words[i], prefix)
		}
	}
	return value
}

// hostSessions returns the sessions of a filter on a host, in the order of `list` there; none if it does not answer in time.
func (c completer) hostSessions(t remote.Target, prefix string, filter discover.SessionFilter) []candidate {
	ctx, cancel := context.WithTimeout(c.ctx, hostTime)
	defer cancel()
	t.ConnectTimeout = min(t.ConnectTimeout, hostTime)
	args := []string{"list", "--json", "-n", strconv.Itoa(maxSessions)}
	if filter.IncludeStopped {
		args = append(args, "--all")
	}
	for _, status := range filter.Statuses {
		args = append(args, "--status", string(status))
	}
	var out []candidate
	_ = EachHost(ctx, c.f.WithReports(func(string) {}), []HostCall{{Target: t, Args: args}}, func(s object.Session) error {
		if s.ID != nil {
			out = append(out, sessionCandidate(prefix+*s.ID, &s))
		}
		return nil
	})
	return out
}
