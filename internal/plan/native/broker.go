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

// numberOrTruth is a value that names no class, file or address.
var numberOrTruth = regexp.MustCompile(`^(-?[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?|true|false)$`)

// NumberOrTruth reports whether a setting's value is a number or a truth value.
func NumberOrTruth(value string) bool { return numberOrTruth.MatchString(value) }

// wordProperties may have any text: none of them loads a class or names a file.
var wordProperties = []string{
	"broker.rack", "compression.type", "group.coordinator.rebalance.protocols", "group.consumer.migration.policy",
	"inter.broker.protocol.version", "log.cleanup.policy", "log.message.format.version",
	"log.message.timestamp.type", "unclean.recovery.strategy",
}

// ListedProperty reports whether any scenario may set the broker property: its value is a number or a truth
// value, or its text can make a broker run no other code.
func ListedProperty(name, value string) bool {
	return NumberOrTruth(value) || slices.Contains(wordProperties, name)
}

// listedOption has the JVM options that any scenario may set. None of them loads code, runs a program or
// names a file.
var listedOption = regexp.MustCompile(`^(` + strings.Join([]string{
	`-server`, `-Xm[nsx][0-9]+[kKmMgG]?`, `-Xss[0-9]+[kKmMgG]?`, `-XX:[+-]Use[A-Za-z0-9]*GC`,
	`-XX:[+-](` + strings.Join([]string{
		"AlwaysPreTouch", "DisableExplicitGC", "ExitOnOutOfMemoryError", "ExplicitGCInvokesConcurrent",
		"G1UseAdaptiveIHOP", "ParallelRefProcEnabled", "PerfDisableSharedMem", "ScavengeBeforeFullGC",
		"TieredCompilation", "UnlockDiagnosticVMOptions", "UnlockExperimentalVMOptions", "UseAdaptiveSizePolicy",
		"UseCompressedClassPointers", "UseCompressedOops", "UseContainerSupport", "UseLargePages", "UseNUMA",
		"UseStringDeduplication", "UseTransparentHugePages", "ZGenerational", "ZProactive", "ZUncommit",
	}, "|") + `)`,
	`-XX:(` + strings.Join([]string{
		"ActiveProcessorCount", "CICompilerCount", "ConcGCThreads", "G1HeapRegionSize", "G1HeapWastePercent",
		"G1MaxNewSizePercent", "G1MixedGCCountTarget", "G1NewSizePercent", "G1ReservePercent", "GCTimeRatio",
		"InitialRAMPercentage", "InitiatingHeapOccupancyPercent", "MaxDirectMemorySize", "MaxGCPauseMillis",
		"MaxMetaspaceFreeRatio", "MaxMetaspaceSize", "MaxNewSize", "MaxRAMPercentage", "MaxTenuringThreshold",
		"MetaspaceSize", "MinMetaspaceFreeRatio", "NewRatio", "NewSize", "ParallelGCThreads",
		"ReservedCodeCacheSize", "SoftMaxHeapSize", "SoftRefLRUPolicyMSPerMB", "SurvivorRatio", "ThreadStackSize",
		"TieredStopAtLevel", "ZAllocationSpikeTolerance", "ZCollectionInterval",
	}, "|") + `)=[0-9]+(\.[0-9]+)?[kKmMgG]?`,
}, "|") + `)$`)

// ListedOption reports whether any scenario may set the JVM option.
func ListedOption(option string) bool { return listedOption.MatchString(option) }
