package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

type invalidFlag interface {
	error
	GetValue() string
	Unwrap() error
}

// inOurWords replaces the flag library's message. For an unknown flag of a command with scenarios,
// it names the scenario key that was meant.
func inOurWords(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && c.Flags().Lookup("set") != nil {
		if meant := scenario.Meaning(unknown.GetSpecifiedName()); meant != "" {
			return fmt.Errorf("%w; %s; keys of a scenario are given with --set", err, meant)
		}
	}
	var invalid invalidFlag
	if !errors.As(err, &invalid) {
		return err
	}
	_, after, _ := strings.Cut(invalid.Error(), " for \"")
	flag, _, quoted := strings.Cut(after, "\" flag: ")
	problem := problemOf(invalid.Unwrap(), invalid.GetValue())
	if !quoted || problem == "" {
		return err
	}
	return fmt.Errorf("%s: %s", flag, problem)
}

// problemOf returns "" if one of our parsers refused the value.
func problemOf(cause error, value string) string {
	var number *strconv.NumError
	switch {
	case errors.As(cause, &number) && errors.Is(cause, strconv.ErrRange):
		return fmt.Sprintf("%q is out of range", value)
	case errors.As(cause, &number) && number.Func == "ParseBool":
		return fmt.Sprintf("%q is not a truth value; write true or false", value)
	case errors.As(cause, &number) && number.Func == "ParseFloat":
		return fmt.Sprintf("%q is not a number; write it as 0.05", value)
	case errors.As(cause, &number):
		return fmt.Sprintf("%q is not a whole number; write it as 12", value)
	case cause != nil && strings.HasPrefix(cause.Error(), "time: "):
		_, err := unit.ParseDuration(value)
		return fmt.Sprint(err)
	}
	return ""
}
