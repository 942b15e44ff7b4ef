// A small load test that goes well: a service of 5 ms, and requests at a constant
// rate over loopback, each sent when it is due and told over OTLP as it ends.
import http from 'node:http';

const attribute = (key, value) => ({ key, value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) } });
const nano = (ms) => String(BigInt(Math.round(ms * 1e3)) * 1000n);

async function post(url, body) {
  const answer = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  if (!answer.ok) {
    throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  }
}

/** Runs for so many seconds at so many requests a second; resolves when the run is finished. */
export async function steady(server, otlp, id, name, seconds, rate) {
  const service = http.createServer((_, answer) => setTimeout(() => answer.end('ok'), 5)).listen(0, '127.0.0.1');
  await new Promise((resolve) => service.once('listening', resolve));
  const agent = new http.Agent({ keepAlive: true });
  const { port } = service.address();
  await post(`${server}/api/v1/runs`, {
    id, name, deadline_s: 1, timeout_s: 2, arrival: { model: 'open', process: 'constant' }, steps: [{ rate_per_s: rate, duration_s: seconds }], targets: [name],
  });
  const attributes = [
    attribute('service.name', 'steady-loadtest'), attribute('loadtest.run.id', id), attribute('loadtest.run.name', name),
    attribute('loadtest.generator', 'specs'), attribute('loadtest.arrival.model', 'open'), attribute('loadtest.scenario', name),
  ];
  let spans = [];
  const now = () => performance.timeOrigin + performance.now();
  const ask = () =>
    new Promise((resolve) => {
      http.get({ port, agent, timeout: 2000 }, (answer) => answer.resume().on('end', () => resolve(answer.statusCode))).on('error', () => resolve(0));
    });
  const start = now() + 200;
  const all = [];
  const tick = setInterval(() => {
    while (all.length < rate * seconds && start + (all.length * 1000) / rate <= now()) {
      const due = start + (all.length * 1000) / rate;
      const sent = now();
      const number = all.length + 1;
      all.push(
        ask().then((status) =>
          spans.push({
            traceId: `5ead${number.toString(16).padStart(28, '0')}`, spanId: number.toString(16).padStart(16, '0'), name: 'GET /', kind: 3,
            startTimeUnixNano: nano(sent), endTimeUnixNano: nano(now()),
            attributes: [
              { key: 'loadtest.intended_time_unix_nano', value: { intValue: nano(due) } },
              status ? attribute('http.response.status_code', status) : attribute('error.type', 'timeout'),
            ],
            status: status === 200 ? {} : { code: 2 },
          })
        )
      );
    }
  }, 2);
  const tell = async () => {
    const ended = spans;
    spans = [];
    await post(`${otlp}/v1/traces`, { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope: { name: 'specs' }, spans: ended }] }] });
  };
  for (let second = 0; second <= seconds; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await tell();
  }
  clearInterval(tick);
  await Promise.all(all);
  await tell();
  await post(`${server}/api/v1/runs/${id}/finish`, {});
  agent.destroy();
  service.close();
}
