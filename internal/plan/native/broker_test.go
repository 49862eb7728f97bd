package native_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/native"
)

func TestListedOption(t *testing.T) {
	for option, listed := range map[string]bool{
		"-Xss512k": true, "-Xmn256m": true, "-XX:+UseZGC": true, "-XX:-UseG1GC": true, "-XX:MaxGCPauseMillis=20": true,
		"-XX:+AlwaysPreTouch": true, "-XX:MaxRAMPercentage=50.5": true, "-server": true,
		"-XX:OnOutOfMemoryError=touch /tmp/x": false, "-XX:OnError=id": false, "-javaagent:evil.jar": false, "-agentpath:evil.so": false,
		"-agentlib:jdwp=transport=dt_socket,server=y": false, "-Xlog:gc:file=/tmp/x": false, "-XX:Flags=/tmp/x": false,
		"-XX:+HeapDumpOnOutOfMemoryError": false, "-XX:HeapDumpPath=/tmp": false, "-XX:ErrorFile=/tmp/x": false, "-XX:VMOptionsFile=x": false,
		"-cp": false, "-Dcom.sun.management.jmxremote.port=1": false, "-Xbootclasspath/a:x.jar": false, "-jar": false, "-XX:+UseEvil": false,
		"-XX:MaxGCPauseMillis=20 -javaagent:x.jar": false, "-Xss512k\n-javaagent:x.jar": false, "-XX:StartFlightRecording": false, "": false,
	} {
		if native.ListedOption(option) != listed {
			t.Errorf("%q is listed: %v", option, !listed)
		}
	}
}

func TestListedProperty(t *testing.T) {
	for _, c := range []struct {
		name, value string
		listed      bool
	}{
		{"num.io.threads", "8", true}, {"log.retention.ms", "-1", true}, {"log.cleaner.min.cleanable.ratio", "0.5", true},
		{"unclean.leader.election.enable", "true", true}, {"log.cleanup.policy", "delete,compact", true}, {"compression.type", "zstd", true},
		{"metric.reporters", "evil.Reporter", false}, {"kafka.metrics.reporters", "evil.Reporter", false}, {"authorizer.class.name", "evil.A", false},
		{"group.consumer.assignors", "evil.A", false}, {"sasl.kerberos.kinit.cmd", "touch", false}, {"config.providers", "file", false},
		{"sasl.jaas.config", "com.sun.security.auth.module.JndiLoginModule required;", false}, {"kafka.csv.metrics.dir", "/tmp", false},
		{"remote.log.storage.manager.class.path", "/tmp/x.jar", false}, {"num.io.threads", "8\nmetric.reporters=x", false}, {"num.io.threads", "${env:HOME}", false},
	} {
		if native.ListedProperty(c.name, c.value) != c.listed {
			t.Errorf("%s=%q is listed: %v", c.name, c.value, !c.listed)
		}
	}
}
