package report

import "kafkabench.example/kafka-bench/internal/show/layout"

// markdownRemarks is a section of them.
func markdownRemarks(m *layout.Markdown, title string, all []remark) {
	m.Paragraph("**", title, "**")
	var items []string
	for _, r := range all {
		text := layout.Prose(r.text)
		if r.label != "" {
			text = layout.Prose(r.label) + ": " + text
		}
		if r.style == layout.Yellow {
			text = "⚠️ " + text
		}
		items = append(items, text)
	}
	m.List(items)
}
