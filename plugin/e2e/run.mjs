// Drives a real Grafana as a person would: health, variables, every dashboard,
// every kind of query in Explore, annotations, alert rules, an editor's round trip.
//
//   GRAFANA_URL=http://127.0.0.1:3000 node e2e/run.mjs     a Grafana of make grafana-demo
//   GRAFANA_HOME=/usr/share/grafana   node e2e/run.mjs     starts one by itself
//
// Screenshots go to e2e/shots. It ends with 0, 1 if something is wrong, and does
// nothing where neither is given.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { api, launch, open, panels, quiet, until } from './browser.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const shots = process.env.SHOTS ?? `${here}shots`;
const only = process.argv[2];
const source = 'plimsoll';
let failed = 0;
let passed = 0;

function expect(what, holds, seen = '') {
  if (holds) {
    passed++;
  } else {
    failed++;
    console.error(`FAIL ${what}${seen ? `: ${JSON.stringify(seen).slice(0, 400)}` : ''}`);
  }
}

/** Times of a run, as a dashboard takes them. */
async function range(run) {
  const { json } = await api('/api/ds/query', {
    from: 'now-1h', to: 'now',
    queries: [{ refId: 'A', datasource: { uid: source }, queryType: 'runs', version: 1, search: run }],
  });
  const frame = json.results.A.frames[0];
  const at = (name) => frame.data.values[frame.schema.fields.findIndex((f) => f.name === name)][0];
  return `from=${at('from_ms')}&to=${at('to_ms')}`;
}

async function healthy() {
  const { json } = await api(`/api/datasources/uid/${source}/health`);
  expect('data source is healthy', json.status === 'OK' && /Plimsoll answers/.test(json.message), json);
}

async function lists() {
  for (const [list, want] of [['runs', 'checkout-before'], ['names', 'latest:checkout'], ['scenarios?run=checkout-before', 'checkout'],
    ['steps?run=checkout-before', '0'], ['queues?run=checkout-before', 'queue:'], ['sources?run=checkout-before', '']]) {
    const { json } = await api(`/api/datasources/uid/${source}/resources/${list}`);
    expect(`list ${list}`, Array.isArray(json) && json.some((o) => o.value.startsWith(want)), json);
  }
}

const looks = [
  { name: 'run-before', uid: 'plimsoll-run', run: 'checkout-before', vars: 'var-run=checkout-before', height: 4300 },
  { name: 'run-after', uid: 'plimsoll-run', run: 'checkout-after', vars: 'var-run=checkout-after', height: 4300 },
  { name: 'live', uid: 'plimsoll-live', run: 'checkout-before', vars: 'var-run=checkout-before&refresh=', height: 2400 },
  { name: 'compare', uid: 'plimsoll-compare', run: 'checkout-before', vars: 'var-before=checkout-before&var-after=checkout-after', height: 2300 },
  { name: 'fleet', uid: 'plimsoll-fleet', vars: 'from=now-1h&to=now', height: 1500 },
  { name: 'llm', uid: 'plimsoll-llm', run: 'chat-sweep', vars: 'var-run=chat-sweep', height: 2900 },
];

async function dashboards(browser) {
  for (const look of looks.filter((l) => !only || l.name.startsWith(only))) {
    const context = await browser.newContext({ viewport: { width: 1500, height: look.height }, deviceScaleFactor: 1, timezoneId: 'UTC' });
    const page = await context.newPage();
    const wrong = [];
    page.on('response', async (r) => {
      if (r.url().includes('/api/ds/query') && r.status() >= 400) {
        wrong.push(`${r.status()} ${(await r.text().catch(() => '')).slice(0, 300)}`);
      }
    });
    const times = look.run ? `&${await range(look.run)}` : '';
    await open(page, `/d/${look.uid}?${look.vars}&var-ds=${source}${times}&kiosk`);
    const seen = await panels(page);
    expect(`${look.name}: panels`, seen.length >= 3, seen.map((p) => p.title));
    for (const p of seen) {
      expect(`${look.name}: ${p.title} has no error`, !p.error, p.text);
      expect(`${look.name}: ${p.title} has data`, !/No data|Unable to|not a valid|An unexpected error/.test(p.text), p.text);
    }
    expect(`${look.name}: no query is refused`, wrong.length === 0, wrong);
    if (look.name === 'run-before') {
      const marks = await page.locator('[data-testid="data-testid annotation-marker"]').count();
      expect('annotations show', marks > 3, marks);
    }
    await page.screenshot({ path: `${shots}/${look.name}.png` });
    await page.screenshot({ path: `${shots}/${look.name}-top.png`, clip: { x: 0, y: 0, width: 1500, height: 1250 } });
    await context.close();
  }
}

const kinds = {
  verdict: /FAIL/, steps: /unstable/, knee: null, series: null, spectrum: null, heatmap: null, littleslaw: /Agrees|yes/, findings: /fail/,
  goodput: null, compare: /Figure|Before/, runs: /checkout-before/, capacity: null, alert: /3|FAIL/,
};

async function explore(browser) {
  const context = await browser.newContext({ viewport: { width: 1500, height: 1200 }, timezoneId: 'UTC' });
  const page = await context.newPage();
  const [from, to] = (await range('checkout-before')).match(/\d+/g);
  for (const [kind, words] of Object.entries(kinds)) {
    const query = { refId: 'A', datasource: { type: 'plimsoll-loadtest-datasource', uid: source }, queryType: kind, version: 1,
      run: 'checkout-before', other: 'checkout-after', holdMin: 1440 };
    const panes = { a: { datasource: source, queries: [query], range: { from, to } } };
    await open(page, `/explore?schemaVersion=1&orgId=1&panes=${encodeURIComponent(JSON.stringify(panes))}`, 2000);
    const text = await page.locator('body').innerText();
    expect(`explore ${kind}: no error`, !/Query error|Unexpected error|plugin\.downstreamError|No data/.test(text), text.slice(-600));
    expect(`explore ${kind}: shows`, !words || words.test(text), text.slice(-600));
    await page.screenshot({ path: `${shots}/explore-${kind}.png` });
  }
  await context.close();
}

/** Changes a query in the editor as a person does, and finds it changed. */
async function editor(browser) {
  const context = await browser.newContext({ viewport: { width: 1500, height: 1000 }, timezoneId: 'UTC' });
  const page = await context.newPage();
  const panes = { a: { datasource: source, queries: [{ refId: 'A', datasource: { type: 'plimsoll-loadtest-datasource', uid: source }, queryType: 'verdict', version: 1, run: 'checkout-before' }], range: { from: 'now-1h', to: 'now' } } };
  await open(page, `/explore?schemaVersion=1&orgId=1&panes=${encodeURIComponent(JSON.stringify(panes))}`, 2000);
  await page.getByLabel('Show', { exact: true }).first().fill('Findings');
  await page.getByRole('option', { name: /Findings/ }).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await quiet(page);
  await page.getByLabel('Deadline', { exact: true }).fill('1s');
  await page.getByLabel('Deadline', { exact: true }).blur();
  await quiet(page);
  const kept = JSON.parse(new URL(page.url()).searchParams.get('panes'));
  const query = Object.values(kept)[0].queries[0];
  expect('editor keeps what was chosen', query.queryType === 'findings' && query.deadline === '1s' && query.run === 'checkout-before', query);
  await page.screenshot({ path: `${shots}/editor.png` });
  await page.reload();
  await quiet(page);
  expect('editor shows it again', (await page.getByLabel('Deadline', { exact: true }).inputValue()) === '1s');
  await context.close();
}

async function rules() {
  const groups = async () => (await api('/api/prometheus/grafana/api/v1/rules')).json.data.groups.flatMap((g) => g.rules);
  const rule = await until('rule fires', 120, async () => (await groups()).find((r) => r.name === 'PlimsollUnstable' && r.state === 'firing'));
  const state = (name) => rule.alerts.find((a) => a.labels.run_name === name)?.state;
  expect('the unstable run fires', /Alerting|firing/i.test(state('checkout')), rule.alerts);
  expect('the stable run is normal', /Normal|inactive/i.test(state('checkout-fixed') ?? 'Normal'), rule.alerts);
  for (const r of await groups()) {
    expect(`rule ${r.name} is evaluated`, r.health === 'ok', r);
    for (const a of r.alerts ?? []) {
      expect(`${r.name} has stable labels`, !JSON.stringify(a.labels).includes('checkout-before'), a.labels);
    }
  }
}

async function main() {
  if (!process.env.GRAFANA_URL && !process.env.GRAFANA_HOME) {
    console.log('neither GRAFANA_URL nor GRAFANA_HOME is given: nothing to drive');
    return;
  }
  mkdirSync(shots, { recursive: true });
  let child;
  if (!process.env.GRAFANA_URL) {
    child = spawn('bash', [`${here}../demo.sh`, process.env.GRAFANA_HOME], { stdio: 'inherit', detached: true });
  }
  try {
    await until('Grafana is ready', 300, async () => (await api('/api/health').catch(() => ({}))).json?.database === 'ok');
    await healthy();
    await lists();
    const browser = await launch();
    await dashboards(browser);
    if (!only) {
      await explore(browser);
      await editor(browser);
      await rules();
    }
    await browser.close();
  } finally {
    if (child) {
      process.kill(-child.pid, 'SIGTERM');
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

await main();
