package api_test

import "github.com/plimsoll/plimsoll/analysis/api/wire"

func estimate(v, lo, hi float64) wire.Estimate {
	return wire.Estimate{Value: &v, Lo: &lo, Hi: &hi, Confidence: 0.95}
}

// exampleVerdict is a made-up verdict in which every part is filled.
func exampleVerdict() *wire.Verdict {
	response := wire.Response{
		Valid: true, Grade: ptr("A"), N: 7200, Mean: ptr(6.0), P50: estimate(6, 5.9, 6.1), P90: estimate(10.8, 10.7, 10.9),
		P95: estimate(11.4, 11.3, 11.5), P99: estimate(11.9, 11.8, 12), P999: wire.Estimate{Lo: ptr(12.0), Confidence: 0.95}, Max: ptr(12.0),
	}
	step := wire.Step{
		From: at(0), To: at(60), DurationS: 60, Offered: ptr(120.0), Due: 7200, Sent: 7200, LateSendRatio: ptr(0.0),
		Ended: ptr(100.0), Completed: ptr(100.0), Goodput: ptr(20.0), AttemptsPerS: ptr(120.0), AttemptsPerReq: ptr(1.0),
		Balance:      wire.Balance{Due: 7200, Good: 1200, Late: 4800, OpenAtEnd: 1200},
		Counts:       wire.Counts{OK: 7200},
		ResponseTime: response, ServiceTime: response, SendDelay: &wire.Delay{P99: estimate(0.001, 0.0009, 0.0011), Max: ptr(0.001)},
		FirstByte: &response,
		InFlight:  wire.InFlight{Mean: ptr(600.0), FirstHalf: ptr(300.0), SecondHalf: ptr(900.0), GrowthZ: ptr(34.0), AtEnd: ptr(1200.0), Source: "rows"},
		Stability: wire.Stability{State: wire.Unstable, Z: ptr(-17.0), Utilisation: ptr(estimate(1.2, 1.18, 1.22))},
		Class:     wire.ClassUnstable,
		LittlesLaw: wire.Little{
			Independent: true, Source: "loadtest.requests.in_flight_time", Counted: ptr(600.4), LambdaW: ptr(720.0), Corrected: ptr(600.0),
			Residual: ptr(0.0007), Tolerance: ptr(0.002), OK: ptr(true), ExactResidual: ptr(1e-15),
		},
		DrainS: ptr(12.0), Sources: []wire.Source{{Source: "gen-1", Sent: 7200, ResponseP99S: ptr(11.9), SendDelayMax: ptr(0.001)}},
	}
	totals := step
	totals.Warnings = []string{"mixed_rates"}
	return &wire.Verdict{
		Schema: wire.Schema, Revision: 118, Horizon: wire.Horizon{At: ptr(at(60))},
		Run: wire.Run{
			ID: "orders-42", Name: "orders", Generator: "otelgen", Scenarios: []string{"orders"}, State: wire.Finished,
			StartedAt: ptr(at(0)), EndedAt: ptr(at(72)), Grade: ptr("A"), DeadlineS: ptr(2.0), OfferedSource: "declared",
		},
		Objectives: []wire.Held{
			{Kind: wire.GoodputKind, Title: "goodput>=99%", State: wire.Missed, Message: "At 120/s only 17 % of requests were answered within 2 s, below the objective of 99 %."},
		},
		Outcome:  wire.OutcomeFail,
		Headline: "At 120/s the backlog grew to 1,200 requests and took 12 s to drain: more than the 100/s (97.4 to 102.6) this service carries.",
		Steps:    []wire.Step{step}, Totals: totals,
		Knee:          wire.Knee{State: wire.NotTested, Capacity: ptr(estimate(100, 97.4, 102.6))},
		Metastability: wire.Metastability{State: wire.NotTested, Signals: []wire.Signal{}},
		Audit:         wire.Audit{Valid: true, Loop: "open", ArrivalProcess: "constant", Findings: []wire.Finding{}},
		Findings: []wire.Finding{{
			Code: "unstable_step", Severity: wire.Fail, Step: ptr(0), Value: ptr(34.0),
			Message: "In flight grew from 300 to 900 between halves of 60 s.",
		}},
	}
}
