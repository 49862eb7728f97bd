package access

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// providersKey is Kafka's setting for values that stand elsewhere (KIP-297, KIP-421): ${NAME:PATH:KEY} or ${NAME:KEY}.
const (
	providersKey     = "config.providers"
	providersPackage = "org.apache.kafka.common.config.provider."
)

var (
	reference     = regexp.MustCompile(`\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}`)
	providerKinds = []string{"EnvVarConfigProvider", "FileConfigProvider", "DirectoryConfigProvider"}
)

// provider finds values outside the file.
type provider struct {
	kind    string         // one of providerKinds
	allowed []string       // the only paths it may read; empty for all
	names   *regexp.Regexp // the only variables it may read; nil for all
}

var (
	errNotAllowed = errors.New("the provider's settings do not allow it")
	errNoValue    = errors.New("it is not set there")
)

// replaced returns the properties without those of providers, and with the values that they find.
func (r *reader) replaced(all []property) []property {
	providers := r.providers(all)
	kept := slices.DeleteFunc(all, func(p property) bool { return isProviders(p.key) })
	for i, p := range kept {
		kept[i].value = reference.ReplaceAllStringFunc(p.value, func(text string) string {
			part := reference.FindStringSubmatch(text)
			from, declared := providers[part[1]]
			if !declared {
				return text
			}
			value, err := r.valueFrom(from, part[3], part[4])
			if err != nil {
				r.mistake(p, "the value that a provider should give can't be read: "+err.Error(), "")
			}
			return value
		})
	}
	return kept
}

func isProviders(key string) bool {
	return key == providersKey || strings.HasPrefix(key, providersKey+".")
}

func (r *reader) providers(all []property) map[string]provider {
	settings := make(map[string]property)
	for _, p := range all {
		if isProviders(p.key) {
			settings[p.key] = p
		}
	}
	found := make(map[string]provider)
	for _, name := range splitList(settings[providersKey].value) {
		of := func(setting string) property { return settings[providersKey+"."+name+"."+setting] }
		class := of("class")
		made := provider{kind: strings.TrimPrefix(strings.TrimSpace(class.value), providersPackage),
			allowed: splitList(of("param.allowed.paths").value)}
		switch {
		case class.line == 0:
			r.mistake(settings[providersKey], "a provider has no class", "set "+providersKey+".NAME.class to "+
				providersPackage+providerKinds[0])
		case !slices.Contains(providerKinds, made.kind):
			r.mistakeAt(class.line, "", "this config provider is not supported",
				"use "+providersPackage+strings.Join(providerKinds, ", "))
		}
		if pattern := of("param.allowlist.pattern"); pattern.line != 0 {
			var err error
			if made.names, err = regexp.Compile("^(?:" + pattern.value + ")$"); err != nil {
				r.mistakeAt(pattern.line, "", "the pattern is no regular expression", "")
			}
		}
		found[name] = made
	}
	return found
}

func splitList(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
}

func (r *reader) valueFrom(from provider, path, key string) (string, error) {
	switch from.kind {
	case "EnvVarConfigProvider":
		if from.names != nil && !from.names.MatchString(key) {
			return "", errNotAllowed
		}
		if value, set := r.lookUp(key); set {
			return value, nil
		}
		return "", errNoValue
	case "FileConfigProvider":
		content, err := r.allowedFile(from, path)
		if err != nil {
			return "", err
		}
		for _, p := range properties(content, func(int, error) {}) {
			if p.key == key {
				return p.value, nil
			}
		}
		return "", errNoValue
	case "DirectoryConfigProvider":
		if key != filepath.Base(key) {
			return "", errNotAllowed
		}
		content, err := r.allowedFile(from, filepath.Join(path, key))
		return string(content), err
	}
	return "", nil // the class is a mistake already
}

func (r *reader) allowedFile(from provider, path string) ([]byte, error) {
	within := func(folder string) bool {
		inside, err := filepath.Rel(filepath.Clean(folder), filepath.Clean(path))
		return err == nil && filepath.IsLocal(inside)
	}
	if len(from.allowed) > 0 && !slices.ContainsFunc(from.allowed, within) {
		return nil, errNotAllowed
	}
	return r.readFile(path)
}
