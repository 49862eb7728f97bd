package cluster

import (
	"io"
	"os"
	"strings"
)

// tailBytes bounds how much of a log is looked at for its last lines.
const tailBytes = 64 << 10

// tailFile returns the last n lines of a log file that tell something, or
// nothing when there is no such file.
func tailFile(path string, n int) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		file.Seek(max(0, size-tailBytes), io.SeekStart)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	return lastLines(string(text), n)
}

// lastLines returns the last n lines of text, without empty ones and without
// the frames of Java's stack traces, which hide the sentence above them.
func lastLines(text string, n int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n\t ")
		frame := strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "\t... ")
		if line != "" && !frame {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-n):]
}
