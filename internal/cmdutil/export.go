package cmdutil

// ExportFormats returns the words that --as of export takes.
func ExportFormats() []string { return []string{"markdown", "json", "html"} }

// ExportTools returns the words that --tools of export takes.
func ExportTools() []string { return []string{"none", "brief", "full"} }
