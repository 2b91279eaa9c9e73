package cli

func ExportFormats() []string { return []string{"markdown", "json", "html"} }

func ExportTools() []string { return []string{"none", "brief", "full"} }
