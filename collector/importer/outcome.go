package importer

import (
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// answered classifies a request by its HTTP status; one without any failed.
func answered(status int64) sample.Outcome {
	if status < 100 || status > 999 {
		return sample.Error
	}
	o, _ := new(convention.Table).Outcome(&convention.Answer{HTTP: int(status), GRPC: -1})
	return o
}

// called classifies a gRPC call by its code and the text of its error.
func called(code int, message string) sample.Outcome {
	o, _ := new(convention.Table).Outcome(&convention.Answer{GRPC: code, Message: []byte(message)})
	return o
}

// failedWith classifies a request that failed by the text of its error.
func failedWith(text []byte) sample.Outcome {
	o, _ := convention.Failure(text)
	return o
}

// statusOf is a status as rows keep it; what cannot be one is 0.
func statusOf(v int64) int16 {
	if v < 0 || v > 999 {
		return 0
	}
	return int16(v)
}
