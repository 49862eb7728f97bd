package doctor

import (
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/run/calibrate"
)

func java(r Readings) Finding {
	if r.NoJava != nil {
		return ofError("java", LocalKafka, r.NoJava)
	}
	return ok("java", r.Java.Version+", "+r.Java.Path)
}

func maven(r Readings) Finding {
	switch {
	case r.NoMaven == nil:
		return ok("maven", r.Maven)
	case r.NoKafka == nil:
		return ok("maven", "missing, and not needed: Kafka is in the cache")
	}
	return ofError("maven", LocalKafka, r.NoMaven)
}

func kafka(r Readings) Finding {
	const check = "kafka"
	switch {
	case r.NoHome != nil:
		return ofError(check, EveryRun, r.NoHome)
	case r.NoKafka != nil:
		return note(check, fmt.Sprintf("%s is not in the cache (%s)", r.Kafka.Version, r.Kafka.Dir),
			"the first run on it downloads about 55 MB", "kafka-bench cluster up, then cluster down, does it before")
	}
	return ok(check, fmt.Sprintf("%s is in the cache: %s, %s", r.Kafka.Version, r.Kafka.Dir, unit.Bytes(r.KafkaBytes)))
}

// Librdkafka is where the driver librdkafka can be had, which is in C.
type Librdkafka struct {
	BuiltIn  bool
	Binary   string // beside this one, with the driver; may be empty
	Compiler string // may be empty
}

func librdkafka(l Librdkafka) Finding {
	const (
		check = "librdkafka"
		cost  = "runs with driver: librdkafka are refused"
	)
	switch {
	case l.BuiltIn:
		return ok(check, "built in")
	case l.Binary != "":
		return note(check, "not in this binary", cost, "run them with "+l.Binary)
	case l.Compiler != "":
		return note(check, "not in this binary; there is a C compiler, "+l.Compiler, cost,
			"make build makes bin/kafka-bench-librdkafka")
	}
	return note(check, "not in this binary, and there is no C compiler", cost,
		"install one (Debian: gcc and libc6-dev); then make build makes bin/kafka-bench-librdkafka")
}

func clusters(r Readings) Finding {
	const check = "cluster disk"
	if r.NoHome != nil {
		return unknown(check)
	}
	if r.ClustersFault != "" {
		return problem(check, LocalKafka, r.ClustersFault,
			r.ClustersRemedy+"; XDG_CACHE_HOME moves the folder of local clusters")
	}
	return ok(check, free(r.Clusters))
}

// A calibration is older than that on most machines whose kernel or use has changed.
const oldCalibration = 90 * 24 * time.Hour

func calibration(r Readings) Finding {
	const (
		check  = "calibration"
		cost   = "no run can warn of rates that this machine cannot offer"
		remedy = "kafka-bench calibrate, on an idle machine: about a minute"
	)
	switch {
	case errors.Is(r.NoCalibration, calibrate.ErrNone):
		return note(check, "none", cost, remedy)
	case r.NoCalibration != nil:
		return note(check, r.NoCalibration.Error(), cost, remedy)
	case r.Calibration == nil:
		return unknown(check)
	case r.Now.Sub(r.Calibration.MadeAt) > oldCalibration:
		return note(check, "of "+r.Calibration.MadeAt.Format(time.DateOnly),
			"it may no longer describe this machine", remedy)
	}
	return ok(check, "of "+r.Calibration.MadeAt.Format(time.DateOnly))
}

func ofError(check string, prevents Prevents, err error) Finding {
	var e *cluster.Error
	if !errors.As(err, &e) {
		return problem(check, prevents, err.Error(), "repair what the error names")
	}
	found := e.What
	if e.Cause != nil {
		found += ": " + e.Cause.Error()
	}
	return problem(check, prevents, found, e.Remedy)
}
