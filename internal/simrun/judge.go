package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/internal/program"
	"github.com/plimsoll/plimsoll/internal/simrun/truth"
)

// server is the program under test.
type server struct{ *program.Server }

// judge sends a case and returns its verdict.
func (s *server) judge(ctx context.Context, c *truth.Case) (*wire.Verdict, error) {
	if c.Declaration != nil {
		body, err := json.Marshal(c.Declaration)
		if err != nil {
			return nil, err
		}
		if _, err := s.Call(ctx, http.MethodPost, "/api/v1/runs", body); err != nil {
			return nil, err
		}
	}
	if err := s.send(ctx, c); err != nil {
		return nil, err
	}
	run := "/api/v1/runs/" + url.PathEscape(c.ID())
	if _, err := s.Call(ctx, http.MethodPost, run+"/finish", nil); err != nil {
		return nil, err
	}
	doc, err := s.Call(ctx, http.MethodGet, run+"/verdict", nil)
	if err != nil {
		return nil, err
	}
	var v wire.Verdict
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, fmt.Errorf("read the verdict: %w", err)
	}
	return &v, nil
}
