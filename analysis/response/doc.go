// Package response counts times and says what their quantiles are, with the
// interval that the data support.
//
// A Histogram is a counting array with the index layout of HdrHistogram (Tene):
// unit 1 µs, 1 µs to 1 h, three (or two) significant digits. A time v in µs
// below 2^(b+1) has its own bucket; above, v >> s with s = bitlen(v) − (b+1)
// names it, b = 10 for three digits and 7 for two, so that a bucket is at most
// 2^−b of its value wide. Count, sum, least and largest are exact, and every
// result is a function of the multiset of values alone.
//
// A Cohort is what a quantile is made of: times that are known, times that are
// known only to be longer than some wait (censored), and requests that never
// got an answer at all. Quantile uses the nearest rank ⌈q·n⌉ and the
// distribution-free interval of order statistics (David and Nagaraja, Order
// Statistics, 7.1), which assumes independent times; times of one queue are
// not, and near capacity the interval is too narrow. The package refuses to
// make a number out of survivors: a rank among censored times has a lower
// bound and no value.
package response
