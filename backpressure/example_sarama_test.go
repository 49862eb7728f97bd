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

// A pipe passes messages to the producer's input as the gate admits them, and a reader of the
// producer's two report channels calls the gate. The producer is sarama's mock.
func ExamplePipe_sarama() {
	credit, err := backpressure.NewCredit(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := backpressure.New(backpressure.Config{Controller: credit})
	if err != nil {
		fmt.Println(err)
		return
	}
	gate.Report(gate.Mark(), backpressure.Reading{}) // with Config.Source: go gate.Watch(ctx)

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

	messages := make(chan *sarama.ProducerMessage)
	go func() {
		defer close(messages)
		for i := range 3 {
			messages <- &sarama.ProducerMessage{Topic: "orders", Value: sarama.StringEncoder(fmt.Sprint(i))}
		}
	}()
	err = backpressure.Pipe(context.Background(), gate, messages, producer.Input(), backpressure.PipeConfig[*sarama.ProducerMessage]{
		Excess: backpressure.Defer,
	})
	producer.AsyncClose()
	reports.Wait()
	s := gate.Stats()
	fmt.Println("admitted", s.Admitted, "of known fate", s.Settled, err)
	// Output: admitted 3 of known fate 2 <nil>
}

type printer struct{}

func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
