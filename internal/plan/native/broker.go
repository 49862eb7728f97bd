package native

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// OwnProperties are a broker's properties that a local cluster sets itself: its identity, its
// listeners and its folders.
var OwnProperties = []string{
	"process.roles", "node.id", "broker.id", "log.dir", "log.dirs", "metadata.log.dir",
	"listeners", "advertised.listeners", "controller.listener.names", "inter.broker.listener.name",
	"listener.security.protocol.map", "controller.quorum.voters", "controller.quorum.bootstrap.servers",
}

var propertyPattern = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// PropertyFault returns why a local broker is given no property of that name, and a remedy; both are
// empty if it is.
func PropertyFault(name string) (problem, remedy string) {
	switch {
	case !propertyPattern.MatchString(name):
		return fmt.Sprintf("%q is not the name of a broker property", name), "write it as in Kafka's documentation"
	case slices.Contains(OwnProperties, name):
		return "the broker property " + name + " is set by kafka-bench itself", "leave it out"
	}
	return "", ""
}

// JVMFault returns why a local broker's JVM is not given an option, and a remedy; both are empty if
// it is.
func JVMFault(option string) (problem, remedy string) {
	switch {
	case !strings.HasPrefix(option, "-"):
		return fmt.Sprintf("JVM option %q does not begin with a dash", option), "write it as for java"
	case slices.ContainsFunc([]string{"-Xmx", "-Xms", "-XX:MaxHeapSize=", "-XX:InitialHeapSize="},
		func(heap string) bool { return strings.HasPrefix(option, heap) }):
		return "JVM option " + option + " sets the heap", "set the heap of the cluster instead"
	}
	return "", ""
}
