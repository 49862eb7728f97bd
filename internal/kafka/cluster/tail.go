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
		_, _ = file.Seek(max(0, size-tailBytes), io.SeekStart) // from the start is as good
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	return lastLines(string(text), n)
}

// lastLines returns the last n lines of text that tell something: no empty
// ones, no frames of Java's stack traces, which hide the sentence above them,
// and, where there is anything else, no entries of level INFO with the lines
// that continue them. A broker that fails logs a hundred of those about its
// configuration and its orderly shutdown.
func lastLines(text string, n int) []string {
	var all, telling []string
	informing := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n\t ")
		frame := strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "\t... ")
		if line == "" || frame {
			continue
		}
		if strings.HasPrefix(line, "[") { // with the time, an entry begins
			informing = strings.Contains(line, "] INFO ")
		}
		all = append(all, line)
		if !informing {
			telling = append(telling, line)
		}
	}
	if len(telling) == 0 {
		telling = all
	}
	return telling[max(0, len(telling)-n):]
}
