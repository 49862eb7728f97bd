package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

type document struct {
	*draft
	lines  map[string]int // by path, such as timeline[3].elapsed_s; without null values
	faults []error
}

func openDocument(d *draft, content []byte, v any) (*document, error) {
	if err := json.Unmarshal(content, v); err != nil {
		line := lineAt(content, jsonOffset(content, err))
		if mismatch := new(json.UnmarshalTypeError); errors.As(err, &mismatch) {
			return nil, d.fault(line, "%s is a %s and must be of type %v", mismatch.Field, mismatch.Value, mismatch.Type)
		}
		if !bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
			return nil, d.fault(1, "it is not JSON: a result begins with {")
		}
		if strings.Contains(err.Error(), "after top-level value") {
			return nil, d.fault(line, "a second value follows the JSON of the result; give each result a file of its own")
		}
		return nil, d.fault(line, "it is not JSON: %w", err)
	}
	doc := &document{draft: d, lines: make(map[string]int)}
	decoder := json.NewDecoder(bytes.NewReader(content))
	return doc, doc.index("", decoder, content, &lineCounter{line: 1})
}

func jsonOffset(content []byte, err error) int64 {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &mismatch):
		return mismatch.Offset
	default:
		return int64(len(content))
	}
}

func lineAt(content []byte, offset int64) int {
	return 1 + bytes.Count(content[:min(max(offset, 0), int64(len(content)))], []byte("\n"))
}

// lineCounter counts lines; offsets must ascend.
type lineCounter struct {
	at   int64
	line int
}

func (c *lineCounter) to(content []byte, offset int64) int {
	c.line += bytes.Count(content[c.at:offset], []byte("\n"))
	c.at = offset
	return c.line
}

// The content is valid JSON, and encoding/json bounds its nesting.
func (doc *document) index(path string, decoder *json.Decoder, content []byte, lines *lineCounter) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("%s: %w", doc.path, err)
	}
	if token == nil {
		return nil
	}
	doc.lines[path] = lines.to(content, decoder.InputOffset())
	open, isOpen := token.(json.Delim)
	if !isOpen {
		return nil
	}
	for i := 0; decoder.More(); i++ {
		inner := path + "[" + strconv.Itoa(i) + "]"
		if open == '{' {
			key, err := decoder.Token()
			if err != nil {
				return fmt.Errorf("%s: %w", doc.path, err)
			}
			inner = join(path, fmt.Sprint(key))
		}
		if err := doc.index(inner, decoder, content, lines); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (doc *document) has(path string) bool { return doc.lines[path] > 0 }

func (doc *document) need(paths ...string) {
	for _, path := range paths {
		if !doc.has(path) {
			doc.faults = append(doc.faults, fmt.Errorf("%s: %s is missing", doc.draft.path, path))
		}
	}
}

func (doc *document) wrong(path, format string, args ...any) {
	doc.faults = append(doc.faults, doc.fault(doc.lines[path], "%s: %w", path, fmt.Errorf(format, args...)))
}

func (doc *document) notNegative(values map[string]float64) {
	for _, path := range sortedKeys(values) {
		if v := values[path]; v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			doc.wrong(path, "%v cannot be: it must be 0 or above", v)
		}
	}
}

func (doc *document) err() error { return errors.Join(doc.faults...) }
