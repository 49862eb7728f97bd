package sarama

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// leaveOut lists exceptions.
var (
	producerSections = []string{"Net", "Metadata", "Producer"}
	consumerSections = []string{"Net", "Metadata", "Consumer"}
)

// leaveOut are parts of the Config that only pass the tool's own code, or are secret.
var leaveOut = []string{
	"MetricRegistry", "Net.LocalAddr", "Net.Proxy", "Net.TLS",
	"Net.SASL.AuthIdentity", "Net.SASL.GSSAPI", "Net.SASL.Password", "Net.SASL.SCRAMAuthzID",
	"Net.SASL.TokenProvider", "Net.SASL.User",
	"Consumer.Group.Member.UserData", "Consumer.Interceptors", "Producer.Interceptors",
}

// security.protocol has Kafka's name, because the driver's own dialer does TLS.
func settings(config *ibm.Config, sections []string, a access.Access) []driver.Setting {
	found := []driver.Setting{{Name: "security.protocol", Value: a.Protocol()}}
	all := reflect.ValueOf(config).Elem()
	for i := range all.NumField() {
		name := all.Type().Field(i).Name
		if all.Field(i).Kind() != reflect.Struct || slices.Contains(sections, name) || name == "Version" {
			found = append(found, settingsOf(name, all.Field(i))...)
		}
	}
	sortByName(found)
	return found
}

func sortByName(settings []driver.Setting) {
	slices.SortFunc(settings, func(a, b driver.Setting) int { return cmp.Compare(a.Name, b.Name) })
}

func settingsOf(name string, value reflect.Value) []driver.Setting {
	if slices.Contains(leaveOut, name) || value.Kind() == reflect.Func {
		return nil
	}
	if text, worded := word(name, value.Interface()); worded {
		return []driver.Setting{{Name: name, Value: text}}
	}
	var found []driver.Setting
	for i := range value.NumField() {
		found = append(found, settingsOf(name+"."+value.Type().Field(i).Name, value.Field(i))...)
	}
	return found
}

// word returns false for a section.
func word(name string, value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "unset", true
	case fmt.Stringer:
		return v.String(), true
	case ibm.RequiredAcks:
		return acksWord(v), true
	case []ibm.BalanceStrategy:
		names := make([]string, len(v))
		for i, strategy := range v {
			names[i] = strategy.Name()
		}
		return strings.Join(names, ","), true
	case string:
		return cmp.Or(v, "unset"), true
	case ibm.SASLMechanism:
		return cmp.Or(string(v), "unset"), true
	}
	switch {
	case name == "Consumer.Offsets.Initial" && value == ibm.OffsetOldest:
		return "earliest", true
	case name == "Producer.CompressionLevel" && value == ibm.CompressionLevelDefault:
		return "default", true
	case reflect.TypeOf(value).Kind() == reflect.Struct:
		return "", false
	}
	return fmt.Sprint(value), true
}

func acksWord(acks ibm.RequiredAcks) string {
	if acks == ibm.WaitForAll {
		return "all"
	}
	return fmt.Sprint(int16(acks))
}

func consumerSettings(config *ibm.Config, cfg driver.ConsumerConfig) []driver.Setting {
	found := settings(config, consumerSections, cfg.Access)
	found = append(found, driver.Setting{Name: "ConsumerGroup", Value: cmp.Or(cfg.Group, "unset")})
	sortByName(found)
	return found
}
