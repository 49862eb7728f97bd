package drawvg

import (
	"fmt"
	"io"

	"kafkabench.example/kafka-bench/internal/show/draw"
)

// Formats returns the formats of Write.
func Formats() []string { return []string{"svg", "pdf", "png"} }

const dotsOfPNG = 2

// Write writes a scene as a standalone file; format is one of Formats.
func Write(w io.Writer, s draw.Scene, format string) error {
	switch format {
	case "svg":
		return s.SVG(w, draw.SVGOptions{Standalone: true})
	case "pdf":
		return PDF(w, s, draw.Light)
	case "png":
		return PNG(w, s, draw.Light, dotsOfPNG)
	}
	return fmt.Errorf("%q is no format of a chart", format)
}
