// Generate writes the man pages and the completion scripts of a release into a directory. They depend on the arguments only.
//
//	go run ./tests/packages/generate DIR VERSION UNIX-TIME
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"

	"agentctl/internal/cli"
	"agentctl/internal/manual"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("want DIR VERSION UNIX-TIME, have %q", args)
	}
	seconds, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	date := time.Unix(seconds, 0).UTC().Format(time.DateOnly)
	files := map[string]string{}
	minus := strings.NewReplacer(`\-`, `\-`, "-", `\-`) // groff prints a - alone as a hyphen, which no shell takes for a minus
	for _, p := range cli.Pages(cli.NewApp(cli.Env{})) {
		var text bytes.Buffer
		fmt.Fprintf(&text, "%% %s 1 %q %q\n\n", strings.ToUpper(p.Name), date, manual.Program+" "+args[1])
		for _, s := range p.Sections {
			fmt.Fprintf(&text, "## %s\n\n%s\n\n", strings.ToUpper(s.Title), strings.Join(s.Blocks, "\n\n"))
		}
		page := minus.Replace(string(md2man.Render(text.Bytes())))
		if files["man/"+p.Name+".1.gz"], err = compressed(page); err != nil {
			return err
		}
	}
	for shell, name := range map[string]string{"bash": "agentctl.bash", "zsh": "_agentctl", "fish": "agentctl.fish", "powershell": "agentctl.ps1"} {
		var script, problems bytes.Buffer
		f := cli.NewEnv(args[1])
		f.Stdout, f.Stderr = &script, &problems
		if cli.Run(context.Background(), f, "completion", shell) != cli.ExitOK {
			return fmt.Errorf("completion %s: %s", shell, problems.String())
		}
		files["completions/"+name] = script.String()
	}
	if err := os.RemoveAll(args[0]); err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(args[0], name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compressed returns a text as gzip, without a name and a time.
func compressed(text string) (string, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return "", err
	}
	err = w.Close()
	return b.String(), err
}
