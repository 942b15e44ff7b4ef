// Drives a real Grafana as a person would: health, variables, every dashboard,
// every kind of query in Explore, annotations, alert rules, an editor's round trip,
// and a run while it goes on. Takes eight minutes.
//
//   GRAFANA_URL=http://127.0.0.1:3000 node e2e/run.mjs     a Grafana of make grafana-demo
//   GRAFANA_HOME=/usr/share/grafana   node e2e/run.mjs     starts one by itself
//
// Words after it choose parts: rules dashboards queries explore live traces. GRAFANA_PORT, and
// PLIMSOLL_HTTP_ADDR, PLIMSOLL_OTLP_HTTP_ADDR and PLIMSOLL_OTLP_GRPC_ADDR, are those of make
// grafana-demo. Screenshots go to e2e/shots. It ends with 0, 1 if something is wrong, and does
// nothing where no Grafana is given.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { api, expect, launch, source, tally, until } from './browser.mjs';
import { dashboards, demonstrated, looks, queries } from './dashboards.mjs';
import { editor, everyKind, mouse } from './explore.mjs';
import { live } from './live.mjs';
import { rules } from './rules.mjs';
import { traces } from './traces.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const shots = process.env.SHOTS ?? `${here}shots`;
const only = process.argv.slice(2);

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

/** The parts, in order: rules first, for runs count for 15 minutes after their end. */
const parts = {
  rules,
  dashboards: (browser) => dashboards(browser, looks, shots),
  queries,
  explore: async (browser) => {
    await everyKind(browser, shots);
    await editor(browser, shots);
    await mouse(browser, shots);
  },
  traces,
  live: async (browser) => dashboards(browser, demonstrated(...(await live(browser, shots))), shots),
};

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
  const browser = await launch();
  try {
    await until('Grafana is ready', 300, async () => (await api('/api/health').catch(() => ({}))).json?.database === 'ok');
    await healthy();
    await lists();
    for (const [name, part] of Object.entries(parts)) {
      if (only.length === 0 || only.includes(name)) {
        await part(browser).catch((e) => expect(name, false, String(e)));
        console.log(`${name}: ${tally.passed} passed, ${tally.failed} failed so far`);
      }
    }
  } finally {
    await browser.close();
    if (child) {
      process.kill(child.pid, 'SIGTERM');
    }
  }
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exitCode = tally.failed ? 1 : 0;
}

await main();
