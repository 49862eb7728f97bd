package backpressure_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/IBM/sarama"
	"github.com/IBM/sarama/mocks"

	"kafkabench.example/kafka-bench/backpressure"
)

// Each message waits for the gate before it goes into the producer's input, and a reader of the
// producer's two report channels calls the gate. The producer is sarama's mock.
func ExampleGate_sarama() {
	ctx := context.Background()
	gate, err := backpressure.Open(ctx, backpressure.Config{Controller: backpressure.Credit{MaxLag: 1000}, Source: lagOf(0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()

	config := sarama.NewConfig()
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true // otherwise the gate never learns of successes
	producer := mocks.NewAsyncProducer(printer{}, config)
	producer.ExpectInputAndSucceed().ExpectInputAndFail(sarama.ErrMessageSizeTooLarge).ExpectInputAndFail(sarama.ErrRequestTimedOut)

	var reports sync.WaitGroup
	reports.Go(func() {
		for m := range producer.Successes() {
			gate.Acked(m.Topic, m.Partition, m.Offset)
			gate.Done(1)
		}
	})
	reports.Go(func() {
		for failed := range producer.Errors() {
			if errors.Is(failed.Err, sarama.ErrMessageSizeTooLarge) {
				gate.Done(1) // refused: it will never be in the log
			} else {
				gate.Unsure(1)
			}
		}
	})

	for i := range 3 {
		if err := gate.Acquire(ctx, 1); err != nil {
			fmt.Println(err)
			return
		}
		producer.Input() <- &sarama.ProducerMessage{Topic: "orders", Value: sarama.StringEncoder(fmt.Sprint(i))}
	}
	producer.AsyncClose()
	reports.Wait()
	s := gate.Stats()
	fmt.Println("admitted", s.Admitted, "of known fate", s.Settled)
	// Output: admitted 3 of known fate 2
}

type printer struct{}

func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
