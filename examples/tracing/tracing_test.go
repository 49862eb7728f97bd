// Package tracing shows how to trace a queue with franz-go's plugin kotel. It is a module of its own, so that importers of
// kmq do not depend on OpenTelemetry.
package tracing

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/plugin/kotel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"kafkabench.example/kafka-bench/kmq"
)

// processSpan gives each call of a handler a span, below that of the record's producer.
func processSpan(tracer *kotel.Tracer) kmq.Middleware {
	return func(next kmq.Handler) kmq.Handler {
		return func(ctx context.Context, d kmq.Delivery) error {
			_, span := tracer.WithProcessSpan(d.Record)
			defer span.End()
			err := next(oteltrace.ContextWithSpan(ctx, span), d)
			if err != nil {
				span.RecordError(err)
				span.SetStatus(codes.Error, err.Error())
			}
			return err
		}
	}
}

// The spans of the producer, of the fetch and of the handler are of one trace, which the record's headers carry on.
func Example() {
	ended := tracetest.NewSpanRecorder()
	tracer := kotel.NewTracer(
		kotel.TracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(ended))),
		kotel.TracerPropagator(propagation.TraceContext{}),
	)
	hooks := kgo.WithHooks(kotel.NewKotel(kotel.WithTracer(tracer)).Hooks()...)

	cluster := kfake.MustCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders")) // in memory
	defer cluster.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), hooks)
	check(err)
	defer client.Close()
	check(client.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("tea")}).FirstErr())

	q, err := kmq.Open(ctx, kmq.Config{
		Brokers: cluster.ListenAddrs(), Topic: "orders", Group: "kitchen", Client: []kgo.Opt{hooks},
	})
	check(err)
	check(q.Run(ctx, func(ctx context.Context, d kmq.Delivery) error {
		fmt.Println("traced:", oteltrace.SpanContextFromContext(ctx).IsValid())
		cancel()
		return nil
	}, kmq.RunConfig{Middleware: []kmq.Middleware{processSpan(tracer)}}))
	check(q.Close(context.Background()))

	traces := make(map[oteltrace.TraceID]bool)
	var names []string
	for _, span := range ended.Ended() {
		traces[span.SpanContext().TraceID()] = true
		names = append(names, span.Name())
	}
	slices.Sort(names)
	fmt.Println(len(traces), "trace:", names)
	// Output:
	// traced: true
	// 1 trace: [orders process orders publish orders receive]
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
	}
}
