package cluster

import (
	"io"
	"os"
	"strings"
)

const tailBytes = 64 << 10

// tailFile returns nil if the file does not exist.
func tailFile(path string, n int) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		_, _ = file.Seek(max(0, size-tailBytes), io.SeekStart)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	return lastLines(string(text), n)
}

// lastLines drops empty lines, the frames of Java's stack traces and, if there are others, entries of level INFO: a
// broker that fails logs a hundred of them.
func lastLines(text string, n int) []string {
	var all, telling []string
	informing := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n\t ")
		frame := strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "\t... ")
		if line == "" || frame {
			continue
		}
		if strings.HasPrefix(line, "[") { // an entry begins with the time
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
