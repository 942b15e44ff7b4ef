// Package fold turns the rows of a run into its state: per load step the
// balance, exact in flight, occupancy, distributions of times and counts by
// outcome, and for the whole run the series that panels draw.
//
// The state is a function of the multiset of rows: the order in which batches
// arrived, how rows were divided over them and which were sent twice cannot
// change it. The fold gets there by reading batches in the order of the time
// they cover and sweeping a line over event time, so its memory follows the
// number of requests that overlap, not the length of the run.
//
// Nothing here judges. A request is timed on its own source's clock alone.
package fold
