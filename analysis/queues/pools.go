package queues

// pools are what pools of connections say.
func pools(key string) (known, bool) {
	switch key {
	case "db.client.connection.pending.requests", "db.client.connections.pending.requests":
		return level("db.client.connection.pending_requests", PoolPending)
	case "db.client.connection.count", "db.client.connections.usage":
		return state("db.client.connection.count", PoolUsed, "state=used")
	case "db.client.connection.max", "db.client.connections.max":
		return level("db.client.connection.max", PoolMax)
	case "db.client.connection.wait.time":
		return spread("db.client.connection.wait_time", Wait, seconds)
	case "db.client.connections.wait.time":
		return spread("db.client.connection.wait_time", Wait, millis)
	case "db.client.connection.timeouts", "db.client.connections.timeouts":
		return total("db.client.connection.timeouts", Timeouts)
	case "hikaricp.connections.pending":
		return level("hikaricp.connections.pending", PoolPending)
	case "hikaricp.connections.active":
		return level("hikaricp.connections.active", PoolUsed)
	case "hikaricp.connections.max":
		return level("hikaricp.connections.max", PoolMax)
	case "hikaricp.connections.acquire":
		return spread("hikaricp.connections.acquire", Wait, seconds)
	case "hikaricp.connections.timeout":
		return total("hikaricp.connections.timeout", Timeouts)
	case "jdbc.connections.active":
		return level("jdbc.connections.active", PoolUsed)
	case "jdbc.connections.max":
		return level("jdbc.connections.max", PoolMax)
	case "go.sql.in.use.connections", "go.sql.stats.connections.in.use":
		return level("go.sql.connections_in_use", PoolUsed)
	case "go.sql.max.open.connections", "go.sql.stats.connections.max.open":
		return level("go.sql.connections_max_open", PoolMax)
	case "go.sql.wait.duration", "go.sql.stats.connections.blocked":
		return summed("go.sql.wait_duration", Wait, seconds)
	case "db.sql.connection.open":
		return state("db.sql.connection.open", PoolUsed, "status=inuse")
	case "db.sql.connection.max.open":
		return level("db.sql.connection.max_open", PoolMax)
	case "db.sql.connection.wait.duration":
		return summed("db.sql.connection.wait_duration", Wait, millis)
	case "pgxpool.acquired.conns":
		return level("pgxpool.acquired_conns", PoolUsed)
	case "pgxpool.max.conns":
		return level("pgxpool.max_conns", PoolMax)
	case "pgbouncer.pools.client.waiting":
		return level("pgbouncer.pools.client_waiting", PoolPending)
	case "pgbouncer.pools.server.active":
		return level("pgbouncer.pools.server_active", PoolUsed)
	case "pgbouncer.pools.client.maxwait":
		return age("pgbouncer.pools.client_maxwait", seconds)
	}
	return known{}, false
}

// threads are what servers say of their workers and of the tasks before them.
func threads(key string) (known, bool) {
	switch key {
	case "tomcat.thread.busy.count", "tomcat.threads.busy":
		return level("tomcat.thread.busy.count", Workers)
	case "tomcat.thread.limit", "tomcat.threads.config.max":
		return level("tomcat.thread.limit", WorkersMax)
	case "jetty.thread.queue.size", "jetty.threads.jobs":
		return level("jetty.thread.queue.size", Waiting)
	case "jetty.thread.busy.count", "jetty.threads.busy":
		return level("jetty.thread.busy.count", Workers)
	case "jetty.thread.limit", "jetty.threads.config.max":
		return level("jetty.thread.limit", WorkersMax)
	case "executor.queued":
		return level("executor.queued", Waiting)
	case "executor.active":
		return level("executor.active", Running)
	case "executor.pool.max":
		return level("executor.pool.max", WorkersMax)
	case "dotnet.thread.pool.queue.length", "process.runtime.dotnet.thread.pool.queue.length", "dotnet.threadpool.queue.length":
		return level("dotnet.thread_pool.queue.length", Waiting)
	}
	return known{}, false
}

// runtimes are what language runtimes and hosts say.
func runtimes(key string) (known, bool) {
	switch key {
	case "nodejs.eventloop.delay.p99", "nodejs.eventloop.lag.p99":
		return age("nodejs.eventloop.delay.p99", seconds)
	case "nodejs.eventloop.delay.p90", "nodejs.eventloop.lag.p90":
		return age("nodejs.eventloop.delay.p90", seconds)
	case "nodejs.eventloop.delay.p50", "nodejs.eventloop.lag.p50":
		return age("nodejs.eventloop.delay.p50", seconds)
	case "nodejs.eventloop.delay.mean", "nodejs.eventloop.lag.mean":
		return age("nodejs.eventloop.delay.mean", seconds)
	case "nodejs.eventloop.delay.max", "nodejs.eventloop.lag.max":
		return age("nodejs.eventloop.delay.max", seconds)
	case "nodejs.eventloop.lag":
		return age("nodejs.eventloop.lag", seconds)
	case "nodejs.eventloop.utilization":
		return share("nodejs.eventloop.utilization", Utilisation)
	case "go.schedule.duration", "go.sched.latencies":
		return spread("go.schedule.duration", Wait, seconds)
	case "process.cpu.utilization":
		return share("process.cpu.utilization", CPU)
	case "jvm.cpu.recent.utilization", "process.runtime.jvm.cpu.utilization":
		return share("jvm.cpu.recent_utilization", CPU) //nolint:misspell // a name of the conventions
	case "container.cpu.utilization":
		return share("container.cpu.utilization", CPU)
	}
	return known{}, false
}
