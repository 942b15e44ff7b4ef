// Simulated runs, sent as OTLP to a server: the checkout example before and after
// its fix (by internal/checkout), a service that carries its load, one that does
// not, and a model server. They end now, so that alert rules see them. Nothing is
// random from one time to the next but the time of day.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

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

/** One queue, first in first out; speed(queue) requests a second. Nobody gives up. */
function simulate({ steps, speed, seed }) {
  const next = random(seed);
  const requests = [];
  const levels = [];
  const waiting = []; // ends, ascending
  let free = 0;
  let from = 0;
  let head = 0;
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
        levels.push({ at: second, queue, scheduled });
        second++;
      }
      scheduled++;
      const begin = Math.max(at, free);
      free = begin + exponential(next, 1 / speed(queue));
      waiting.push(free);
      requests.push({ due: at, done: free + 0.02 + exponential(next, 0.004) });
    }
    from += step.seconds;
  }
  levels.push({ at: from, queue: waiting.length - head, scheduled });
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
  const metrics = [sum('loadtest.arrivals.scheduled', (l) => l.scheduled)];
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
  const start = ended - simulated.requests.reduce((last, r) => Math.max(last, r.done), simulated.seconds) - 1;
  await post(`${api}/api/v1/runs`, {
    id,
    name,
    deadline_s: deadline,
    timeout_s: 60,
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
    const attributes = [{ key: 'loadtest.intended_time_unix_nano', value: { intValue: nano(due) } }, attribute('http.response.status_code', 200), ...(extra?.attributes?.(r) ?? [])];
    return {
      traceId: id.length.toString(16).padStart(4, '0') + i.toString(16).padStart(28, '1'),
      spanId: (i + 1).toString(16).padStart(16, '0'),
      name: 'POST /orders',
      kind: 3,
      startTimeUnixNano: nano(due + 0.0002),
      endTimeUnixNano: nano(start + r.done),
      attributes,
    };
  });
  await sendSpans(otlp, resource, spans);
  await sendMetrics(otlp, resource, start, simulated.levels, service);
  await post(`${api}/api/v1/runs/${id}/finish`, {});
}

/** Sends the checkout before and after the fix: the published tables, row by row. */
function example(api, otlp, ended) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const at = `${new Date(ended * 1000).toISOString().slice(0, 19)}Z`;
  const done = spawnSync('go', ['run', './internal/checkout', '-api', api, '-otlp', otlp, '-ended', at], { cwd: root, stdio: 'inherit' });
  if (done.status !== 0) {
    throw new Error(`internal/checkout: ${done.error ?? `exit ${done.status}`}`);
  }
}

/** Sends all simulated runs; ended is when they end, in seconds since 1970. */
export async function sendRuns(api, otlp, ended) {
  example(api, otlp, ended);
  const common = { api, otlp, deadline: 0.3, ended };
  const heavy = [{ rate: 550, seconds: 120 }];
  const drowned = simulate({ steps: heavy, speed: () => 462, seed: 7 });
  await run({ ...common, id: 'search-overload', name: 'search', service: 'search', steps: heavy, simulated: drowned });
  const calm = [{ rate: 200, seconds: 60 }];
  const steady = simulate({ steps: calm, speed: () => 462, seed: 11 });
  const objectives = [{ goodput_ratio_min: 0.99 }, { quantile: 0.99, max_s: 0.3 }];
  await run({ ...common, id: 'payments-steady', name: 'payments', service: 'payments', steps: calm, simulated: steady, extra: { objectives } });
  const chat = [{ rate: 20, seconds: 60 }, { rate: 40, seconds: 60 }, { rate: 60, seconds: 60 }];
  const next = random(3);
  const answers = simulate({ steps: chat, speed: (queue) => (queue < 40 ? 52 : 48), seed: 5 });
  for (const r of answers.requests) {
    r.tokens = 50 + Math.floor(next() * 200);
    r.first = r.done - r.due + 0.15 * next(); // it waits, then the tokens come
    r.done += r.tokens * (0.012 + 0.006 * next());
  }
  await run({
    ...common, id: 'chat-sweep', name: 'chat', service: 'chat-model', deadline: 8, steps: chat, simulated: answers,
    extra: { attributes: (r) => [attribute('loadtest.time_to_first_byte', r.first + 1e-6), attribute('loadtest.output_tokens', r.tokens)] },
  });
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [api = 'http://127.0.0.1:4319', otlp = 'http://127.0.0.1:4318'] = process.argv.slice(2);
  await sendRuns(api, otlp, Date.now() / 1000 - 5);
}
