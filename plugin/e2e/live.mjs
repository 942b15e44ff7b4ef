// Runs while they go on: the demonstration's own service and generator, as it
// overloads, and at the same time a load that goes well; then the demonstration with
// its fix. Dashboards follow, the rule fires for one run alone and resolves with the
// fix, and the pictures are taken during the runs.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ask, expect, newPage, open, panels, picture, quiet, runs, source, until, wait } from './browser.mjs';
import { stateOf } from './rules.mjs';
import { steady } from './steady.mjs';

const program = process.env.PLIMSOLL ?? fileURLToPath(new URL('../../bin/plimsoll', import.meta.url));
const server = process.env.PLIMSOLL_URL ?? `http://${process.env.PLIMSOLL_HTTP_ADDR ?? '127.0.0.1:4319'}`;
const otlpHTTP = `http://${process.env.PLIMSOLL_OTLP_HTTP_ADDR ?? '127.0.0.1:4318'}`;
const otlp = process.env.PLIMSOLL_OTLP_GRPC_ADDR ?? '127.0.0.1:4317';

/** Starts a demonstration of one and a half minutes; its id, and when it is over. */
async function demonstrate(fixed) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PLIMSOLL_')));
  const child = spawn(program, ['demo', '--server', server, '--otlp', otlp, '--scale', '1.5', ...(fixed ? ['--fixed'] : [])], { env });
  let said = '';
  child.stdout.on('data', (text) => (said += text));
  child.stderr.on('data', (text) => (said += text));
  const over = new Promise((resolve) => child.on('close', (code) => resolve(code)));
  const ended = over.then((code) => ({ code, said }));
  const id = await until('demonstration starts', 20, async () => said.match(/^run (\S+) on/m)?.[1]);
  return { id, started: Date.now(), ended };
}

const state = async (id) => (await runs()).find((r) => r.run === id)?.state;

/** When a curve ends, in milliseconds. */
function end(frame, name) {
  const values = (of) => frame.data.values[frame.schema.fields.findIndex((f) => f.name === of)] ?? [];
  const i = values(name).findLastIndex((value) => value !== null);
  return values('time')[i];
}

/** Follows a live run on the dashboard, and takes its picture before it ends. */
async function follow(browser, { id, started }, shots, name, runName, holds) {
  const page = await newPage(browser, 2400);
  const looks = [];
  const rates = [];
  page.on('response', (r) => {
    const asked = r.url().includes('/api/ds/query') ? r.request().postDataJSON().queries : [];
    const of = (name) => asked.find((q) => q.names?.includes(name))?.refId;
    for (const [to, name, other] of [[looks, 'in_flight', 'in_flight_provisional'], [rates, 'completed', 'offered']]) {
      if (of(name)) {
        r.json().then(({ results }) => {
          const frame = results[of(name)].frames[0];
          to.push({ at: Date.now(), settled: end(frame, name), provisional: end(frame, other) });
        }).catch(() => undefined);
      }
    }
  });
  await open(page, `/d/plimsoll-live?var-run=${id}&var-ds=${source}&from=now-2m&to=now&refresh=5s&kiosk`, 1500);
  const before = looks.length;
  await until(`${name}: three refreshes`, 40, async () => looks.length >= before + 3);
  const [first, second] = looks.slice(-2);
  expect(`${name}: refreshes every 5 s`, second.at - first.at > 3000 && second.at - first.at < 9000, looks);
  expect(`${name}: what has settled moves on`, second.settled > first.settled, looks);
  expect(`${name}: what is provisional moves on`, second.provisional > first.provisional, looks);
  expect(`${name}: rates end together`, rates.length > 0 && rates.every((r) => r.settled === r.provisional), rates);
  expect(`${name}: the provisional is ahead of the settled`, second.provisional > second.settled, looks);
  const alarm = await until(`${name}: the rule ${holds}`, 75, async () => (await stateOf('PlimsollUnstable', runName)) === holds).then(
    () => true,
    (e) => String(e)
  );
  expect(`${name}: the rule is ${holds} while the run goes on`, alarm === true && (await state(id)) === 'live', alarm);
  const states = [];
  while (Date.now() - started < 72_000) {
    states.push(await stateOf('PlimsollUnstable', runName));
    await wait(3000);
  }
  expect(`${name}: the rule stays ${holds}`, states.every((s) => s === holds), states);
  await quiet(page, 1000); // between two refreshes, so that all panels are of the same moment
  const seen = await panels(page);
  await picture(page, `${shots}/${name}.png`);
  expect(`${name}: the picture is of a live run`, (await state(id)) === 'live' && /live/i.test(seen.find((p) => p.title === 'State')?.text ?? ''), seen);
  for (const p of seen) {
    expect(`${name}: ${p.title} has no error`, !p.error && !/No data|unexpected error/i.test(p.text), p.text);
  }
  const { frames } = await ask({ queryType: 'verdict', run: id });
  const notices = frames.flatMap((f) => f.schema.meta?.notices ?? []).map((n) => n.text);
  expect(`${name}: says until when it has settled`, notices.some((n) => /settled up to/.test(n)), notices);
  await page.context().close();
}

/** The demonstration before and after its fix, live, and beside it a run that goes well; returns the ids of the demonstration. */
export async function live(browser, shots) {
  const busy = async () => (await runs()).some((r) => r.generator === 'plimsoll-demo' && r.state === 'live');
  await until('no other demonstration runs', 240, async () => !(await busy()) && (await wait(5000), !(await busy()))); // nor begins the next
  const well = `steady-${Date.now()}`;
  const healthy = steady(server, otlpHTTP, well, 'steady', 90, 50).catch((e) => expect('the steady run ends well', false, String(e)));
  const before = await demonstrate(false);
  await wait(15_000); // the first steps
  await Promise.all([
    follow(browser, before, shots, 'live-unstable', 'orders', 'alerting'),
    follow(browser, { id: well, started: before.started }, shots, 'live-healthy', 'steady', 'normal'),
  ]);
  await over(before, 'live-unstable');
  await healthy;
  await wait(10_000); // the service of this run is none of the next one's
  const after = await demonstrate(true);
  await over(after, 'live-fixed');
  await until('the rule resolves with the fix', 75, async () => (await stateOf('PlimsollUnstable', 'orders')) === 'normal');
  return [before.id, after.id];
}

async function over({ ended }, name) {
  const { code, said } = await ended;
  expect(`${name}: the demonstration ends well`, code === 0, said.slice(-400));
}
