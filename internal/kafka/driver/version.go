package driver

import "runtime/debug"

// ModuleVersion returns the version of the client library with this module path, or "unknown" without build
// information.
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
