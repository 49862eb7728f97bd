package offsetmap

import "kafkabench.example/kafka-bench/kmq/internal/window"

// Map reads the metadata of a commit: the offsets beyond the committed one that are done,
// in rising order. It is for whoever looks at a group from outside; the error says that
// the metadata is not a map.
func Map(committed int64, metadata string) ([]window.Range, error) {
	var c coder
	p, err := c.decode(committed, metadata)
	return p.done, err
}
