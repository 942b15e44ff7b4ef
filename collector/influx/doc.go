// Package influx receives InfluxDB line protocol over HTTP, as InfluxDB 1 and 2
// do, and turns the lines of load generators into batches of rows and metric
// points.
//
// Lines of JMeter's two backend listeners, of k6 and of fortio's access log are
// known by what they hold; a mapping file names others. A line of anything else
// is passed over and counted. A line that InfluxDB would refuse is refused, by
// number and in InfluxDB's own words, and the lines around it are kept.
//
// What a body means depends on the body and its address alone: nothing is
// remembered from one request to the next, so a repeated one is recognised by
// its digest and the order of requests does not matter.
package influx
