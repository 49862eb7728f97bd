package campaign

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func overDrivers(t *testing.T, drivers string) scenario.Suite {
	t.Helper()
	suite, err := scenario.ReadSuite("quick", scenario.Options{Set: []string{"matrix.driver=[" + drivers + "]", "matrix.load.acks=[1, all]"}})
	if err != nil {
		t.Fatal(err)
	}
	return suite
}

func TestLeaveOut(t *testing.T) {
	missing := func(name string) string {
		if name == "c" {
			return "there is no C here"
		}
		return ""
	}
	whole := overDrivers(t, "franz, c, sarama")
	suite, notes, err := LeaveOut(whole, missing)
	if err != nil || !slices.Equal(notes, []string{"2 cells of quick left out: there is no C here"}) {
		t.Errorf("%q, %v", notes, err)
	}
	if len(suite.Cells) != 4 || !slices.Equal(suite.Axes[0].Values, []string{"franz", "sarama"}) || len(suite.Axes[1].Values) != 2 {
		t.Errorf("%+v is left", suite.Axes)
	}
	if len(whole.Cells) != 6 || len(whole.Axes[0].Values) != 3 {
		t.Error("it changed its input")
	}
	if _, _, err := LeaveOut(overDrivers(t, "c"), missing); err == nil || err.Error() != "scenario quick: driver: there is no C here" {
		t.Errorf("nothing is left: %v", err)
	}
	if same, notes, err := LeaveOut(overDrivers(t, "franz"), missing); err != nil || notes != nil || len(same.Cells) != 2 {
		t.Errorf("%q, %v", notes, err)
	}
}

// lacking has no idempotent producer and no TLS.
type lacking struct{ driver.Driver }

func (lacking) Lacks() map[driver.Capability]string {
	return map[driver.Capability]string{driver.Idempotence: "it is simple", driver.EncryptedAccess: "it is open"}
}

func TestUnmet(t *testing.T) {
	open := func(name string) (driver.Driver, error) {
		if name != "simple" {
			return nil, errors.New("there is no driver " + name)
		}
		return lacking{}, nil
	}
	plainly, asking, unknown := plain("plain").Cells[0].Scenario, plain("asking").Cells[0].Scenario, plain("unknown").Cells[0].Scenario
	plainly.Driver, asking.Driver = "simple", "simple"
	asking.Load.Idempotent = true
	if err := Unmet([]scenario.Scenario{plainly}, nil, nil, open); err != nil {
		t.Error(err)
	}
	err := Unmet([]scenario.Scenario{plainly, asking, unknown}, map[driver.Capability]string{driver.EncryptedAccess: "use a plaintext listener"}, nil, open)
	want := []string{
		"scenario plain: --command-config asks for TLS and SASL, which the driver simple does not have (it is open); use a plaintext listener, or choose another driver",
		"scenario asking: load.idempotent asks for idempotent producing, which the driver simple does not have (it is simple); set it to false, or choose another driver",
		"scenario asking: --command-config asks for TLS and SASL, which the driver simple does not have (it is open); use a plaintext listener, or choose another driver",
		"scenario unknown: driver: there is no driver " + unknown.Driver,
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}
