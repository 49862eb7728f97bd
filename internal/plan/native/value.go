package native

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Set parses text into a setting by its Go type: a duration (10ms), a boolean, an integer or a string.
func Set(to reflect.Value, text string) error {
	switch kind := to.Kind(); {
	case to.Type() == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration; write it as 10ms", text)
		}
		to.SetInt(int64(d))
	case kind == reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is not a truth value; write true or false", text)
		}
		to.SetBool(text == "true")
	case to.CanInt():
		n, err := strconv.ParseInt(text, 10, to.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is not a whole number of this size; write it as 12, without a unit", text)
		}
		to.SetInt(n)
	case kind == reflect.String:
		to.SetString(text)
	default:
		return fmt.Errorf("a value of type %s cannot be given", to.Type())
	}
	return nil
}

// SetFields sets fields of a struct by their paths after prefix, such as Producer.Flush.Bytes. The
// parameter of is a pointer to the struct.
func SetFields(of any, prefix string, given map[string]string) (faults error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		path, ours := strings.CutPrefix(name, prefix)
		if !ours {
			continue
		}
		field := reflect.ValueOf(of).Elem()
		for part := range strings.SplitSeq(path, ".") {
			field = field.FieldByName(part)
		}
		if err := Set(field, given[name]); err != nil {
			faults = errors.Join(faults, fmt.Errorf("%s: %w", name, err))
		}
	}
	return faults
}
