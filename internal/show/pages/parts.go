package pages

import (
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// partsOf joins consecutive items into a list, and labelled texts into a list of facts.
func partsOf(s layout.Section) (parts []Part) {
	for _, b := range s.Blocks {
		text := Text{toneOf(b.Style), b.Text}
		var last *Part
		if len(parts) > 0 {
			last = &parts[len(parts)-1]
		}
		switch {
		case b.Kind == layout.BlockTable:
			if len(b.Table.Rows) > b.Heads {
				parts = append(parts, Part{Table: tableOf(s.Title, b)})
			}
		case b.Text == "":
		case b.Kind == layout.BlockItem && last != nil && last.List != nil:
			last.List = append(last.List, text)
		case b.Kind == layout.BlockItem:
			parts = append(parts, Part{List: []Text{text}})
		case b.Kind == layout.BlockLabelled:
			if last == nil || last.Facts == nil {
				parts = append(parts, Part{})
				last = &parts[len(parts)-1]
			}
			if n := len(last.Facts); b.Label == "" && n > 0 {
				last.Facts[n-1].Lines = append(last.Facts[n-1].Lines, text)
			} else {
				last.Facts = append(last.Facts, Fact{b.Label, []Text{text}})
			}
		default:
			parts = append(parts, Part{Text: &text})
		}
	}
	return parts
}

// figures reports whether all texts of a column begin with a number or are absent. A page does not
// break them, even if the text format has them on the left.
func figures(rows [][]string, column int) bool {
	for _, row := range rows {
		if column < len(row) && strings.TrimLeft(row[column], " +-–0123456789") == row[column] && row[column] != "" {
			return false
		}
	}
	return true
}

// tableOf joins the rows of the table's head. A row without a first cell becomes a note in the row
// above.
func tableOf(name string, b layout.Block) *Table {
	t := &Table{Name: name}
	width := 0
	for _, row := range b.Table.Rows {
		width = max(width, len(row))
	}
	numeric := func(column int) bool {
		return column > 0 && (!b.Table.Left[column] || figures(b.Table.Rows[b.Heads:], column))
	}
	for column := range width {
		var head []string
		for _, row := range b.Table.Rows[:b.Heads] {
			if column < len(row) && row[column] != "" {
				head = append(head, strings.TrimSpace(row[column]))
			}
		}
		t.Head = append(t.Head, Cell{Text: strings.Join(head, " "), Numeric: numeric(column)})
	}
	for i, row := range b.Table.Rows[b.Heads:] {
		if len(row) == 0 {
			continue
		}
		if n := len(t.Rows); row[0] == "" && n > 0 {
			for column := 1; column < len(row); column++ {
				t.Rows[n-1][column].SmallNote = strings.TrimSpace(row[column])
			}
			continue
		}
		cells := make([]Cell, width)
		for column := range cells {
			cells[column].Numeric = numeric(column)
			if column >= len(row) {
				continue
			}
			cells[column].Text = strings.TrimSpace(row[column])
			if d, known := b.Data[[2]int{b.Heads + i, column}]; known {
				cells[column].Value, cells[column].Figure = layout.Raw(d.Value), d.Figure
				cells[column].Stat, cells[column].Of = d.Stat, d.Of
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func (p *Page) sections(all []layout.Section, first string) {
	for _, s := range all {
		title := s.Title
		if title == "" {
			title = first
		}
		s.Title = title
		if parts := partsOf(s); len(parts) > 0 {
			p.section(title, parts...)
			p.Sections[len(p.Sections)-1].Note = s.Note
		}
	}
}

func plainTable(name string, rows [][]string) *Table {
	if len(rows) < 2 {
		return nil
	}
	return tableOf(name, layout.Block{Heads: 1, Table: layout.Table{Rows: rows}})
}

func orAbsent(text string, known bool) string {
	if !known {
		return unit.Absent
	}
	return text
}

func titled(f figure.Figure) string {
	first, rest, _ := strings.Cut(f.Title, " ")
	if first == "e2e" {
		first = "End-to-end"
	}
	return strings.TrimSpace(strings.ToUpper(first[:1]) + first[1:] + " " + rest)
}
