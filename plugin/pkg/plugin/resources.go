package plugin

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll/plimsoll/plugin/pkg/plimsoll"
)

// mostOptions bounds the lists that editors and variables offer.
const mostOptions = 200

// option is a choice in an editor, or a value of a variable.
type option struct {
	Value       string `json:"value"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// resources answers the lists behind editors and variables.
func (d *Datasource) resources() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /runs", d.offer(d.runOptions))
	mux.HandleFunc("GET /names", d.offer(d.nameOptions))
	for _, what := range []string{"scenarios", "steps", "queues", "sources"} {
		mux.HandleFunc("GET /"+what, d.offer(func(r *http.Request) ([]option, error) { return d.partsOf(r, what) }))
	}
	return mux
}

// offer writes a list of options, or why there is none.
func (d *Datasource) offer(list func(*http.Request) ([]option, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var all []option
		err := d.broken
		status := http.StatusBadRequest
		if err == nil {
			status = http.StatusBadGateway
			all, err = list(r)
		}
		if refusal, ok := errors.AsType[*plimsoll.Error](err); ok {
			status = refusal.Status
		}
		var answer any = all
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		} else {
			status = http.StatusOK
		}
		body, err := json.Marshal(answer)
		if err != nil {
			http.Error(w, "internal error", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(body) // the caller has gone; there is nobody to tell
	}
}

// runOptions are the newest runs, with latest first.
func (d *Datasource) runOptions(r *http.Request) ([]option, error) {
	list, _, err := d.list(r.Context(), r.URL.Query().Get("q"), mostOptions)
	if err != nil {
		return nil, err
	}
	out := []option{{"latest", "latest", "the newest run"}}
	for i := range list {
		it := &list[i]
		out = append(out, option{it.ID, it.ID, strings.TrimPrefix(runName(it.ID, it.Name)+", "+it.State+", "+at(it.StartedAt), ", ")})
	}
	return out, nil
}

// nameOptions are the names of runs; latest:NAME follows each from run to run.
func (d *Datasource) nameOptions(r *http.Request) ([]option, error) {
	list, _, err := d.list(r.Context(), "", mostOptions)
	if err != nil {
		return nil, err
	}
	out := []option{}
	for i := range list {
		name := list[i].Name
		if name == "" || slices.ContainsFunc(out, func(o option) bool { return o.Label == name }) {
			continue
		}
		out = append(out, option{"latest:" + name, name, "the newest run of this name"})
	}
	return out, nil
}

// partsOf are the scenarios, steps, queues or sources of a run.
func (d *Datasource) partsOf(r *http.Request, what string) ([]option, error) {
	run := r.URL.Query().Get("run")
	if run == "" {
		run = "latest"
	}
	v, err := d.client.Verdict(r.Context(), run, url.Values{})
	if err != nil {
		return nil, err
	}
	out := []option{}
	add := func(value, label, description string) {
		if value != "" && len(out) < mostOptions && !slices.ContainsFunc(out, func(o option) bool { return o.Value == value }) {
			out = append(out, option{value, label, description})
		}
	}
	switch what {
	case "scenarios":
		for _, s := range v.Run.Scenarios {
			add(s, s, "")
		}
	case "queues":
		for _, q := range v.Run.Queues {
			add("queue:"+q.Name, q.Name, plain(q.Kind))
		}
	case "steps":
		for i := range v.Steps {
			s := &v.Steps[i]
			add(strconv.Itoa(s.Index), stepName(s), s.Class)
		}
	case "sources":
		for i := range v.Steps {
			for _, s := range v.Steps[i].Sources {
				add(s.Source, s.Source, "")
			}
		}
	}
	return out, nil
}
