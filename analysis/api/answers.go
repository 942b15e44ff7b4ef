package api

import (
	"encoding/json"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/warm"
)

// answer is a computed value and its encoding.
type answer struct {
	value any
	body  []byte
}

// newAnswers makes the memory of encoded answers. A decoded document takes about
// twice its encoding.
func newAnswers(budget int64, atOnce int) *warm.Cache[answer] {
	return warm.NewCache(budget, atOnce, func(key string, got answer) int64 { return int64(3*len(got.body) + len(key)) })
}

// encoded is the answer with the value.
func encoded(value any, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	body, err := json.Marshal(value)
	if err != nil {
		return answer{}, fmt.Errorf("encode answer: %w", err)
	}
	return answer{value, append(body, '\n')}, nil
}
