package plugin

import (
	"math"

	"github.com/grafana/grafana-plugin-sdk-go/data"
)

// Units of Grafana that frames use. Dashboards are tested against them.
const (
	unitRate    = "reqps"
	unitSeconds = "s"
	unitRatio   = "percentunit"
	unitCount   = "short"
	unitTime    = "dateTimeAsIso"
)

// Colours by their names in Grafana, so that themes can change them.
const (
	green  = "green"
	yellow = "dark-yellow" // the plain one cannot be read on white
	orange = "orange"
	red    = "red"
	purple = "purple"
	blue   = "blue"
	grey   = "#8e8e99"
)

// field makes a field with a name to show.
func field[T any](name, title string, values []T) *data.Field {
	f := data.NewField(name, nil, values)
	f.Config = &data.FieldConfig{DisplayNameFromDS: title}
	return f
}

// unit sets the unit of a field.
func unit(f *data.Field, id string) *data.Field {
	f.Config.Unit = id
	return f
}

// decimals sets how many digits stand after the point.
func decimals(f *data.Field, n uint16) *data.Field {
	f.Config.Decimals = &n
	return f
}

// describe sets what a reader sees beside the name of a field.
func describe(f *data.Field, text string) *data.Field {
	f.Config.Description = text
	return f
}

// hidden keeps a field out of panels; transformations can use it.
func hidden(f *data.Field) *data.Field {
	custom(f, "hidden", true)
	custom(f, "hideFrom", map[string]bool{"legend": true, "tooltip": true, "viz": true})
	return f
}

// custom sets an option that belongs to a kind of panel.
func custom(f *data.Field, name string, value any) *data.Field {
	if f.Config.Custom == nil {
		f.Config.Custom = map[string]any{}
	}
	f.Config.Custom[name] = value
	return f
}

// colour fixes the colour of a field.
func colour(f *data.Field, name string) *data.Field {
	f.Config.Color = map[string]any{"mode": "fixed", "fixedColor": name}
	return f
}

// mapped gives words colours, or numbers words and colours.
func mapped(f *data.Field, m data.ValueMapper) *data.Field {
	f.Config.Mappings = append(f.Config.Mappings, m)
	if f.Config.Custom == nil {
		custom(f, "cellOptions", map[string]any{"type": "color-text"})
	}
	// A word that is not mapped has the colour of text, not that of the lowest threshold.
	f.Config.Thresholds = &data.ThresholdsConfig{
		Mode: data.ThresholdsModeAbsolute, Steps: []data.Threshold{{Value: data.ConfFloat64(math.Inf(-1)), Color: "text"}},
	}
	f.Config.Color = map[string]any{"mode": "thresholds"}
	return f
}

// limit colours numbers from a value on.
func limit(f *data.Field, steps ...any) *data.Field {
	t := &data.ThresholdsConfig{Mode: data.ThresholdsModeAbsolute}
	t.Steps = append(t.Steps, data.Threshold{Value: data.ConfFloat64(math.Inf(-1)), Color: green})
	for i := 0; i+1 < len(steps); i += 2 {
		t.Steps = append(t.Steps, data.Threshold{Value: data.ConfFloat64(steps[i].(float64)), Color: steps[i+1].(string)})
	}
	f.Config.Thresholds = t
	f.Config.Color = map[string]any{"mode": "thresholds"}
	return f
}

// Numbers of outcomes, as in /metrics.
func outcomeCode(outcome string) *float64 {
	code, ok := map[string]float64{"pass": 0, "inconclusive": 1, "invalid": 2, "fail": 3}[outcome]
	if !ok {
		return nil
	}
	return &code
}

// outcomes says the outcome of a number.
func outcomes() data.ValueMapper {
	return data.ValueMapper{
		"0": {Text: "PASS", Color: green, Index: 0},
		"1": {Text: "INCONCLUSIVE", Color: yellow, Index: 1},
		"2": {Text: "INVALID", Color: purple, Index: 2},
		"3": {Text: "FAIL", Color: red, Index: 3},
	}
}

// words colours the classes, states and severities of a verdict.
func words() data.ValueMapper {
	out := data.ValueMapper{}
	for colour, all := range map[string][]string{
		green:  {"stable", "recovered", "found", "pass", "better", "yes", "valid"},
		yellow: {"inconclusive", "undecided", "warn", "draining", "shedding", "capped", "unclear"},
		purple: {"invalid"},
		red:    {"unstable", "lossy", "fail", "sustained", "degraded", "collapse", "worse", "NO"},
		blue:   {"info", "live"},
		"text": {"finished", "not tested", "not seen", "not reached"},
	} {
		for _, word := range all {
			out[word] = data.ValueMappingResult{Text: word, Color: colour}
		}
	}
	return out
}

// table makes a frame for panels that show rows.
func table(name string, fields ...*data.Field) *data.Frame {
	return typed(data.FrameTypeTable, name, fields...)
}

// typed makes a frame of a type of the data plane.
func typed(kind data.FrameType, name string, fields ...*data.Field) *data.Frame {
	f := data.NewFrame(name, fields...)
	f.Meta = &data.FrameMeta{Type: kind, TypeVersion: data.FrameTypeVersion{0, 1}}
	return f
}

// shown sets the panel in which Explore shows a frame.
func shown(f *data.Frame, panel string) *data.Frame {
	f.Meta.PreferredVisualizationPluginID = panel
	if panel == "table" {
		f.Meta.PreferredVisualization = data.VisTypeTable
	}
	if panel == "timeseries" {
		f.Meta.PreferredVisualization = data.VisTypeGraph
	}
	return f
}

// note adds a notice to a frame.
func note(f *data.Frame, severity data.NoticeSeverity, text string) {
	f.AppendNotices(data.Notice{Severity: severity, Text: text})
}

func warn(f *data.Frame, text string) { note(f, data.NoticeSeverityWarning, text) }
func info(f *data.Frame, text string) { note(f, data.NoticeSeverityInfo, text) }

// some returns a pointer to a value.
func some[T any](v T) *T { return &v }
