// Package verdict turns the state of a run into the verdict document and the
// views that panels draw: it calls the judgements, puts their answers side by
// side, and says in one sentence per finding what they mean.
//
// It decides the class of every step, the dropped-arrivals rule, the objectives
// and the outcome of the run (DESIGN section 6, CONTRACT "The verdict
// document"). Where the data cannot say, a field is null and a finding says
// what is missing; no number here is made of survivors or of a closed loop's
// own pace. Like all of analysis it is a function of its arguments.
package verdict
