// Simulated runs, sent as OTLP to a server: a checkout before and after a fix, and
// a model server. They end now, so that alert rules see them. Nothing is random
// from one time to the next but the time of day.

/** A generator of numbers within 0 and 1 that repeats (mulberry32). */
function random(seed) {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const exponential = (next, mean) => -Math.log(1 - next()) * mean;

/** Steps of the push: past capacity, and back. */
const push = [
  { rate: 300, seconds: 30 },
  { rate: 400, seconds: 30 },
  { rate: 450, seconds: 30 },
  { rate: 500, seconds: 30 },
  { rate: 550, seconds: 30, drop: 0.041 },
  { rate: 600, seconds: 30, drop: 0.093 },
  { rate: 300, seconds: 60 },
];

/** One queue, first in first out; speed(queue) requests a second, refuse(queue) turns away. */
function simulate({ steps, speed, refuse, timeout, seed }) {
  const next = random(seed);
  const requests = [];
  const levels = [];
  const waiting = []; // ends, ascending
  let free = 0;
  let from = 0;
  let head = 0;
  let dropped = 0;
  let scheduled = 0;
  let second = 1;
  for (const step of steps) {
    let at = from;
    for (;;) {
      at += exponential(next, 1 / step.rate);
      if (at >= from + step.seconds) {
        break;
      }
      while (head < waiting.length && waiting[head] <= at) {
        head++;
      }
      const queue = waiting.length - head;
      while (second <= at) {
        levels.push({ at: second, queue, dropped, scheduled });
        second++;
      }
      scheduled++;
      if (step.drop && next() < step.drop) {
        dropped++;
        continue;
      }
      if (refuse && refuse(queue)) {
        requests.push({ due: at, done: at + 0.003, status: 503 });
        continue;
      }
      const begin = Math.max(at, free);
      if (begin - at > timeout) {
        free = begin + 1 / 310; // its client has gone, which is found out only after most of the work
        waiting.push(free);
        requests.push({ due: at, done: at + timeout, status: 0 });
        continue;
      }
      free = begin + exponential(next, 1 / speed(queue));
      waiting.push(free);
      const done = free + 0.02 + exponential(next, 0.004);
      requests.push(done - at > timeout ? { due: at, done: at + timeout, status: 0 } : { due: at, done, status: 200 });
    }
    from += step.seconds;
  }
  levels.push({ at: from, queue: waiting.length - head, dropped, scheduled });
  return { requests, levels, seconds: from };
}

const attribute = (key, value) => ({
  key,
  value: typeof value === 'string' ? { stringValue: value } : Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value },
});

const nano = (seconds) => String(BigInt(Math.round(seconds * 1e6)) * 1000n);

async function post(url, body) {
  const answer = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  if (!answer.ok) {
    throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  }
}

async function sendSpans(otlp, resource, spans) {
  for (let i = 0; i < spans.length; i += 4000) {
    await post(`${otlp}/v1/traces`, { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'simulated' }, spans: spans.slice(i, i + 4000) }] }] });
  }
}

/** The queue of the service and the counters of the generator, once a second. */
async function sendMetrics(otlp, resource, start, levels, service) {
  const points = (value) => levels.map((l) => ({ startTimeUnixNano: nano(start), timeUnixNano: nano(start + l.at), asInt: String(value(l)) }));
  const sum = (name, value) => ({ name, unit: '{request}', sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: points(value) } });
  const metrics = [sum('loadtest.arrivals.scheduled', (l) => l.scheduled), sum('loadtest.arrivals.dropped', (l) => l.dropped)];
  const gauge = { name: 'http.server.active_requests', unit: '{request}', sum: { aggregationTemporality: 2, isMonotonic: false, dataPoints: points((l) => l.queue) } };
  const scope = { name: 'simulated' };
  await post(`${otlp}/v1/metrics`, {
    resourceMetrics: [
      { resource, scopeMetrics: [{ scope, metrics }] },
      { resource: { attributes: [attribute('service.name', service)] }, scopeMetrics: [{ scope, metrics: [gauge] }] },
    ],
  });
}

async function run({ api, otlp, id, name, service, deadline, steps, simulated, ended, extra }) {
  const start = ended - simulated.seconds - 5;
  await post(`${api}/api/v1/runs`, {
    id,
    name,
    deadline_s: deadline,
    timeout_s: 5,
    arrival: { model: 'open', process: 'poisson' },
    start: new Date(start * 1000).toISOString(),
    steps: steps.map((s) => ({ rate_per_s: s.rate, duration_s: s.seconds })),
    objectives: extra?.objectives,
    targets: [service],
  });
  const resource = {
    attributes: [
      attribute('service.name', 'loadgen'),
      attribute('loadtest.run.id', id),
      attribute('loadtest.run.name', name),
      attribute('loadtest.generator', 'simulated'),
      attribute('loadtest.arrival.model', 'open'),
      attribute('loadtest.scenario', name),
    ],
  };
  const spans = simulated.requests.map((r, i) => {
    const due = start + r.due;
    const attributes = [{ key: 'loadtest.intended_time_unix_nano', value: { intValue: nano(due) } }, ...(extra?.attributes?.(r) ?? [])];
    if (r.status) {
      attributes.push(attribute('http.response.status_code', r.status));
    } else {
      attributes.push(attribute('error.type', 'timeout'));
    }
    return {
      traceId: id.length.toString(16).padStart(4, '0') + i.toString(16).padStart(28, '1'),
      spanId: (i + 1).toString(16).padStart(16, '0'),
      name: 'POST /orders',
      kind: 3,
      startTimeUnixNano: nano(due + (r.late ?? 0.0002)),
      endTimeUnixNano: nano(start + r.done),
      attributes,
      status: r.status === 200 ? {} : { code: 2 },
    };
  });
  await sendSpans(otlp, resource, spans);
  await sendMetrics(otlp, resource, start, simulated.levels, service);
  await post(`${api}/api/v1/runs/${id}/finish`, {});
}

/** Sends all simulated runs; ended is when they end, in seconds since 1970. */
export async function sendRuns(api, otlp, ended) {
  // Service time grows with the queue: it collapses past 462/s, and does not come back at 300/s.
  const collapse = (queue) => (queue < 200 ? 462 : Math.max(270, 462 - (queue - 200) / 20));
  const before = simulate({ steps: push, speed: collapse, timeout: 5, seed: 7 });
  const after = simulate({ steps: push.map((s) => ({ ...s, drop: 0 })), speed: () => 462, refuse: (queue) => queue > 60, timeout: 5, seed: 7 });
  const common = { api, otlp, service: 'checkout', deadline: 0.3, steps: push };
  // The same service under two names, so that one alert fires and the other stays normal.
  await run({ ...common, id: 'checkout-before', name: 'checkout', simulated: before, ended: ended - 300 });
  await run({ ...common, id: 'checkout-after', name: 'checkout-fixed', simulated: after, ended });
  const calm = [{ rate: 200, seconds: 60 }];
  const steady = simulate({ steps: calm, speed: () => 462, timeout: 5, seed: 11 });
  const objectives = [{ goodput_ratio_min: 0.99 }, { quantile: 0.99, max_s: 0.3 }];
  await run({ ...common, id: 'payments-steady', name: 'payments', service: 'payments', steps: calm, simulated: steady, ended, extra: { objectives } });
  const chat = [{ rate: 20, seconds: 60 }, { rate: 40, seconds: 60 }, { rate: 60, seconds: 60 }];
  const next = random(3);
  const answers = simulate({ steps: chat, speed: (queue) => (queue < 40 ? 52 : 48), timeout: 60, seed: 5 });
  for (const r of answers.requests) {
    r.tokens = 50 + Math.floor(next() * 200);
    r.first = r.done - r.due + 0.15 * next(); // it waits, then the tokens come
    r.done += r.tokens * (0.012 + 0.006 * next());
  }
  await run({
    ...common, id: 'chat-sweep', name: 'chat', service: 'chat-model', deadline: 8, steps: chat, simulated: answers, ended,
    extra: { attributes: (r) => [attribute('loadtest.time_to_first_byte', r.first + 1e-6), attribute('loadtest.output_tokens', r.tokens)] },
  });
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [api = 'http://127.0.0.1:4319', otlp = 'http://127.0.0.1:4318'] = process.argv.slice(2);
  await sendRuns(api, otlp, Date.now() / 1000 - 5);
}
