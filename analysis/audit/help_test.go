package audit_test

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/response"
)

// quantileMM1 is the q-quantile of the time in an M/M/1 system.
func quantileMM1(lambda, rho, q float64) float64 {
	return -math.Log1p(-q) / (lambda/rho - lambda)
}

func holds(e response.Estimate, truth float64) bool {
	return (e.Lo == nil || *e.Lo <= truth) && (e.Hi == nil || truth <= *e.Hi)
}
