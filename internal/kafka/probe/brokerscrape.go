package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// maxScrapeBytes bounds a response: a broker may report each of thousands of topics.
const maxScrapeBytes = 64 << 20

// ReadBroker reads a broker's metrics from an HTTP endpoint in Prometheus' text format. A response without any
// Kafka metric is an error.
func ReadBroker(ctx context.Context, url string) (BrokerCounts, error) {
	fail := func(err error) (BrokerCounts, error) {
		return BrokerCounts{}, fmt.Errorf("reading the broker metrics at %s: %w", access.HideUser(url), err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fail(errors.New("it is no URL")) // the error quotes all of it
	}
	began := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fail(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fail(fmt.Errorf("it answered %s", response.Status))
	}
	c, err := parseBroker(io.LimitReader(response.Body, maxScrapeBytes))
	if err != nil {
		return fail(err)
	}
	// The broker read its metrics between the two times; the middle has the smallest error.
	c.At = began.Add(time.Since(began) / 2)
	return c, nil
}

func parseBroker(text io.Reader) (BrokerCounts, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return BrokerCounts{}, err
	}
	c := BrokerCounts{
		Requests:    make(map[string]RequestCounts),
		NetworkIdle: make(map[string]map[string]float64),
	}
	for family, f := range families {
		for _, m := range f.GetMetric() {
			labels := make(map[string]string)
			for _, l := range m.GetLabel() {
				labels[strings.ToLower(l.GetName())] = l.GetValue()
			}
			take := func(suffix string, v float64) {
				if !math.IsNaN(v) && !math.IsInf(v, 0) {
					c.take(canonical(family+suffix, labels), labels, v)
				}
			}
			switch {
			case m.GetSummary() != nil:
				take("_count", float64(m.GetSummary().GetSampleCount()))
				take("_sum", m.GetSummary().GetSampleSum())
			case m.GetCounter() != nil:
				take("", m.GetCounter().GetValue())
			case m.GetGauge() != nil:
				take("", m.GetGauge().GetValue())
			default:
				take("", m.GetUntyped().GetValue())
			}
		}
	}
	if len(c.Requests) == 0 && c.BytesIn == nil && c.HandlerIdle == nil && c.UnderReplicated == nil {
		return BrokerCounts{}, fmt.Errorf("there is no metric of a Kafka broker among its %d", len(families))
	}
	return c, nil
}

// canonical puts the name of the MBean into a metric's name. Without rules the JMX exporter writes
// kafka_network_requestmetrics_count{name="TotalTimeMs"}; with the rules of its examples it writes
// kafka_network_requestmetrics_totaltimems_count.
func canonical(name string, labels map[string]string) string {
	name = strings.ToLower(name)
	bean := strings.ToLower(labels["name"])
	if cut := strings.LastIndexByte(name, '_'); bean != "" && cut > 0 {
		name = name[:cut] + "_" + bean + name[cut:]
	}
	return name
}

// spellings omits Kafka's MeanRate, which some rules export as _percent: it is an average since the broker's start.
var spellings = map[string]func(c *BrokerCounts, v float64){
	"process_start_time_seconds": func(c *BrokerCounts, v float64) { c.Started = &v },

	"kafka_server_brokertopicmetrics_bytesinpersec_count":  bytesIn,
	"kafka_server_brokertopicmetrics_bytesinpersec_total":  bytesIn,
	"kafka_server_brokertopicmetrics_bytesinpersec":        bytesIn,
	"kafka_server_brokertopicmetrics_bytesin_total":        bytesIn,
	"kafka_server_brokertopicmetrics_bytesin_count":        bytesIn,
	"kafka_server_brokertopicmetrics_bytesoutpersec_count": bytesOut,
	"kafka_server_brokertopicmetrics_bytesoutpersec_total": bytesOut,
	"kafka_server_brokertopicmetrics_bytesoutpersec":       bytesOut,
	"kafka_server_brokertopicmetrics_bytesout_total":       bytesOut,
	"kafka_server_brokertopicmetrics_bytesout_count":       bytesOut,

	// In a combined process, the metric without Broker in its name covers the handlers of broker and controller.
	"kafka_server_kafkarequesthandlerpool_brokerrequesthandleravgidlepercent_count": func(c *BrokerCounts,
		v float64) {
		c.HandlerIdle, c.HandlersOfBoth = &v, false
	},
	"kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_count": handlerIdle,
	"kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_total": handlerIdle,

	"kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_oneminuterate": func(c *BrokerCounts,
		v float64) {
		c.HandlerIdleRatio = &v
	},

	"kafka_network_socketserver_networkprocessoravgidlepercent_value": networkIdleRatio,
	"kafka_network_socketserver_networkprocessoravgidlepercent":       networkIdleRatio,
	"kafka_network_socketserver_networkprocessoravgidle_percent":      networkIdleRatio,

	"kafka_controller_kafkacontroller_activecontrollercount_value": isController,
	"kafka_controller_kafkacontroller_activecontrollercount":       isController,

	"kafka_server_replicamanager_underreplicatedpartitions_value": underReplicated,
	"kafka_server_replicamanager_underreplicatedpartitions":       underReplicated,

	"kafka_log_logflushstats_logflushrateandtimems_count": func(c *BrokerCounts, v float64) { c.LogFlush.Count = &v },
	"kafka_log_logflushstats_logflushrateandtimems_mean":  func(c *BrokerCounts, v float64) { c.LogFlush.Mean = &v },
}

func bytesIn(c *BrokerCounts, v float64)          { c.BytesIn = &v }
func bytesOut(c *BrokerCounts, v float64)         { c.BytesOut = &v }
func networkIdleRatio(c *BrokerCounts, v float64) { c.NetworkIdleRatio = &v }
func isController(c *BrokerCounts, _ float64)     { c.Controller = true }
func underReplicated(c *BrokerCounts, v float64)  { c.UnderReplicated = &v }

func handlerIdle(c *BrokerCounts, v float64) {
	if c.HandlerIdle == nil {
		c.HandlerIdle, c.HandlersOfBoth = &v, true
	}
}

var phaseNames = map[string]Phase{
	"totaltimems": Total, "requestqueuetimems": RequestQueue, "localtimems": Local, "remotetimems": Remote,
	"throttletimems": Throttle, "responsequeuetimems": ResponseQueue, "responsesendtimems": ResponseSend,
}

func (c *BrokerCounts) take(name string, labels map[string]string, v float64) {
	switch {
	case strings.HasPrefix(name, "kafka_network_requestmetrics_"):
		c.takeRequest(strings.TrimPrefix(name, "kafka_network_requestmetrics_"), labels["request"], v)
	case strings.HasPrefix(name, "kafka_server_socket_server_metrics_io_wait_time_ns"),
		strings.HasPrefix(name, "kafka_server_socketservermetrics_io_wait_time_ns"):
		c.takeWait(name, labels, v)
	case name == "jvm_gc_collection_seconds_count", name == "jvm_gc_collection_seconds_sum":
		c.takeGC(labels["gc"], strings.HasSuffix(name, "_sum"), v)
	case name == "jvm_memory_used_bytes" && labels["area"] == "heap", name == "jvm_memory_bytes_used" &&
		labels["area"] == "heap":
		c.HeapBytes = &v
	default:
		if set, known := spellings[name]; known && labels["topic"] == "" {
			set(c, v)
		}
	}
}

// name is, for example, totaltimems_mean.
func (c *BrokerCounts) takeRequest(name, kind string, v float64) {
	bean, attribute, _ := strings.Cut(name, "_")
	phase, known := phaseNames[bean]
	if !known || kind == "" {
		return
	}
	phases := c.Requests[kind]
	switch attribute {
	case "count":
		phases[phase].Count = &v
	case "mean":
		phases[phase].Mean = &v
	}
	c.Requests[kind] = phases
}

// takeWait ignores the average that has a similar name.
func (c *BrokerCounts) takeWait(name string, labels map[string]string, v float64) {
	if !strings.HasSuffix(name, "_ns") && !strings.HasSuffix(name, "_ns_total") {
		return
	}
	listener, thread := labels["listener"], labels["networkprocessor"]+labels["network_processor"]
	if thread == "" {
		return
	}
	if c.NetworkIdle[listener] == nil {
		c.NetworkIdle[listener] = make(map[string]float64)
	}
	c.NetworkIdle[listener][thread] = v
}

func (c *BrokerCounts) takeGC(collector string, sum bool, v float64) {
	if c.GC == nil {
		c.GC = make(map[string]GCCount)
	}
	count := c.GC[collector]
	if sum {
		count.Seconds = v
	} else {
		count.Count = v
	}
	c.GC[collector] = count
}
