package importer

// further are the formats of all other tools, in the order in which they are
// tried.
func further() []Format {
	return []Format{
		wrk(), heyCSV(), heySummary(), ohaDB(), ohaCSV(), h2loadLog(), abPlot(), tsungDump(), ycsbRaw(),
		locustRequests(), locustHistory(), locustStats(),
		autocannon(), artilleryReport(), fortioResult(), fortioLog(), ghzReport(), hdrLog(),
		aiperfExport(), guidellmReport(), vllmBench(),
	}
}
