package driver

import "runtime/debug"

// ModuleVersion is the version of a client library as it was built in, by its module
// path, or "unknown" in a binary without build information.
func ModuleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dependency := range info.Deps {
		if dependency.Path == path {
			return dependency.Version
		}
	}
	return "unknown"
}
