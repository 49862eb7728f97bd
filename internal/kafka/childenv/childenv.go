// Package childenv chooses the environment of child processes. Other variables may be secrets, and every process of the
// user, and every holder of a JMX or attach connection, can read a process's environment.
package childenv

import (
	"os"
	"slices"
	"strings"
)

var common = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH",
	"DYLD_LIBRARY_PATH",
}

// Java returns the variables that Java and its libraries need, and those that are named. A name that ends with * stands
// for all that begin so.
func Java(named ...string) []string {
	return chosen(os.Environ(), common, []string{"JAVA_HOME", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"}, named)
}

// Program returns the variables that another process of this program needs, and those that are named, as in Java.
func Program(named ...string) []string {
	return chosen(os.Environ(), common, []string{
		"GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GORACE", "GOCOVERDIR", "GOTRACEBACK", "SSL_CERT_*", "OPENSSL_CONF",
		"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR",
	}, named)
}

func chosen(all []string, lists ...[]string) []string {
	names := slices.Concat(lists...)
	return slices.DeleteFunc(all, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !slices.ContainsFunc(names, func(pattern string) bool {
			prefix, several := strings.CutSuffix(pattern, "*")
			return name == pattern || several && strings.HasPrefix(name, prefix)
		})
	})
}
