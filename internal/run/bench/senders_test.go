package bench

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/payload"
)

func TestRunsShareACorpus(t *testing.T) {
	var shared sharedCorpus
	of := func(size int) *payload.Corpus {
		c, err := shared.of(payload.Spec{Class: "zeros", Sizes: payload.Sizes{Distribution: "fixed", Values: []int{size}}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := of(100)
	if of(100) != first {
		t.Error("the same records were made twice")
	}
	if of(200) == first || of(100).Bytes() != first.Bytes() {
		t.Error("other records were not made")
	}
}
