//go:build proof

package crash

func leftOut() []string {
	var all []string
	for _, one := range []struct {
		out  bool
		what string
	}{
		{*kills == 0, "campaigns of kills beyond three at each step, and beyond three for each engine on Apache Kafka: -kills 90"},
		{*onlyFault == "", "most faults of TestFaults: -fault all"},
		{!*brokers, "most of TestRealBrokers: -brokers"},
	} {
		if one.out {
			all = append(all, one.what)
		}
	}
	return all
}
