package scenario

import (
	"errors"
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// shortForm is a mapping that may also be one scalar, which replaces the whole mapping: `arrival:
// poisson` resets all other keys of arrival.
type shortForm interface {
	setShort(text string) error
	// short describes the scalar, for errors.
	short() string
}

func (a *Arrival) short() string { return "the name of a process, as in: arrival: poisson" }

func (a *Arrival) setShort(text string) error {
	*a = Arrival{Process: text}
	return nil
}

func (k *Keys) short() string { return "the name of a distribution, as in: keys: none" }

func (k *Keys) setShort(text string) error {
	*k = Keys{Distribution: text}
	return nil
}

func (w *Work) short() string { return "a duration, as in: work: 4ms" }

func (w *Work) setShort(text string) error {
	duration, err := unit.ParseDuration(text)
	if err == nil {
		*w = Work{Time: duration}
	}
	return err
}

func (b *Backpressure) short() string { return "the word off, as in: backpressure: off" }

func (b *Backpressure) setShort(text string) error {
	*b = Defaults().Backpressure
	b.Controller = text
	return nil
}

func (p *Payload) short() string { return "the name of a class, as in: payload: json" }

func (p *Payload) setShort(text string) error {
	*p = Payload{Class: text}
	return nil
}

func (s *Size) short() string { return "one size, as in: size: 512B" }

func (s *Size) setShort(text string) error {
	size, err := unit.ParseSize(text)
	if err == nil {
		*s = FixedSize(size)
	}
	return err
}

// FixedSize returns one size for all records.
func FixedSize(size unit.Size) Size {
	return Size{Distribution: "fixed", Values: []unit.Size{size}}
}

// Exactly one key is set.
type sizeMapping struct {
	Uniform []unit.Size `yaml:"uniform,omitempty"`
	Normal  []unit.Size `yaml:"normal,omitempty"`
	List    []unit.Size `yaml:"list,omitempty"`
	File    []unit.Size `yaml:"file,omitempty"`
}

func (m sizeMapping) size(key string) Size {
	switch key {
	case "uniform":
		return Size{Distribution: key, Values: m.Uniform}
	case "normal":
		return Size{Distribution: key, Values: m.Normal}
	case fileSizes:
		return Size{Distribution: key, Values: m.File}
	default:
		return Size{Distribution: key, Values: m.List}
	}
}

func (s Size) mapping() sizeMapping {
	switch s.Distribution {
	case "uniform":
		return sizeMapping{Uniform: s.Values}
	case "normal":
		return sizeMapping{Normal: s.Values}
	case fileSizes:
		return sizeMapping{File: s.Values}
	default:
		return sizeMapping{List: s.Values}
	}
}

const oneRecord = "1 record"

// String returns b as a scenario writes it.
func (b Batch) String() string {
	if b == OneRecord {
		return oneRecord
	}
	return unit.Size(b).String()
}

// MarshalText returns the text of String.
func (b Batch) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads "1 record" or a size. A size of 0 is one record, as Kafka's batch.size.
func (b *Batch) UnmarshalText(text []byte) error {
	size, err := unit.ParseSize(string(text))
	switch {
	case string(text) == oneRecord, err == nil && size == 0:
		*b = OneRecord
	case err != nil:
		return fmt.Errorf("%w, or %s to send each record by itself", err, oneRecord)
	default:
		*b = Batch(size)
	}
	return nil
}

// String returns c as a scenario writes it.
func (c Commit) String() string {
	if c.EachBatch {
		return "batch"
	}
	return c.Interval.String()
}

// MarshalText returns the text of String.
func (c Commit) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads "batch" or a duration.
func (c *Commit) UnmarshalText(text []byte) error {
	if string(text) == "batch" {
		*c = Commit{EachBatch: true}
		return nil
	}
	interval, err := unit.ParseDuration(string(text))
	if err != nil {
		problem, remedy, _ := strings.Cut(err.Error(), "; ")
		return fmt.Errorf("%s; %s, or batch to commit after each batch", problem, remedy)
	}
	*c = Commit{Interval: interval}
	return nil
}

// Off reports whether no consumer is held.
func (h Hold) Off() bool { return h == Hold{} }

// String returns h as a scenario writes it.
func (h Hold) String() string {
	switch {
	case h.Drain:
		return "drain"
	case h.Off():
		return "off"
	default:
		return h.Until.String()
	}
}

// MarshalText returns the text of String.
func (h Hold) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads "drain", "off" or a duration.
func (h *Hold) UnmarshalText(text []byte) error {
	switch string(text) {
	case "drain":
		*h = Hold{Drain: true}
		return nil
	case "off":
		*h = Hold{}
		return nil
	}
	until, err := unit.ParseDuration(string(text))
	if err != nil {
		problem, remedy, _ := strings.Cut(err.Error(), "; ")
		return fmt.Errorf("%s; %s, or drain to hold them until the drain", problem, remedy)
	}
	if until == 0 {
		return errors.New("it must be above 0; write off to hold no consumer")
	}
	*h = Hold{Until: until}
	return nil
}
