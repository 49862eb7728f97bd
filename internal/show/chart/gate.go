package chart

import (
	"fmt"
	"math"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

func gate(in Input) (draw.Spec, error) {
	r, err := in.oneOver()
	if err != nil {
		return draw.Spec{}, err
	}
	state := field{name: "gate_open", value: func(i *result.Interval) float64 {
		switch {
		case i.GateOpen == nil:
			return math.NaN()
		case *i.GateOpen:
			return 0
		}
		return 1
	}}
	bars, err := state.of(r, "gate")
	if err != nil {
		return draw.Spec{}, err
	}
	bars.Kind = draw.Bars
	var ps panels
	names := []string{"open", "closed"}
	ps.add(draw.Panel{Y: rows("gate", names), Height: 2 * rowHeight, Series: []draw.Series{bars}}, nil, nil)
	for _, p := range []struct {
		axis draw.Axis
		call call
	}{
		{draw.Free("records that wait at the source", draw.Linear, count), call{"deferred", deferred}},
		{draw.Free("shed/s", draw.Linear, perS), call{"shed", shed}},
	} {
		panel, notes, err := panelOf(p.axis, r, p.call)
		if err == nil {
			if _, most := extent(panel.Series[0].Y); most == 0 {
				err = &Missing{Of: r.name, Field: p.call.field.name + " above 0", File: intervalsFile, None: true}
			}
		}
		ps.add(panel, notes, err)
	}
	return ps.spec(only(r), "Gate", fmt.Sprintf("When the gate of %s was open and closed, and what it held back.", r.name))
}

// rowHeight is the height of a row of bars, in CSS pixels.
const rowHeight = 18
