// What the specs share: a browser, Grafana's API, a tally, and what a panel shows.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

export const grafana = (process.env.GRAFANA_URL ?? `http://127.0.0.1:${process.env.GRAFANA_PORT ?? 3000}`).replace(/\/$/, '');

/** The data source as it is provisioned. */
export const source = 'plimsoll';
export const kindOfSource = 'plimsoll-loadtest-datasource';

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function launch() {
  const executablePath = process.env.CHROMIUM ?? browsers.find(existsSync);
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'] });
}

export const tally = { passed: 0, failed: 0 };

/** Counts what holds, and says what does not and what was seen instead. */
export function expect(what, holds, seen = '') {
  if (holds) {
    tally.passed++;
  } else {
    tally.failed++;
    console.error(`FAIL ${what}${seen ? `: ${JSON.stringify(seen).slice(0, 500)}` : ''}`);
  }
}

/** Calls Grafana's API; anonymous visitors are administrators in the demo. */
export async function api(path, body, method = body ? 'POST' : 'GET') {
  const headers = { 'Content-Type': 'application/json' };
  if (process.env.GRAFANA_AUTH) {
    headers.Authorization = `Basic ${Buffer.from(process.env.GRAFANA_AUTH).toString('base64')}`;
  }
  const answer = await fetch(grafana + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`${path}: ${answer.status} ${text.slice(0, 200)}`);
  }
  return { status: answer.status, json };
}

/** Asks the data source one query, and returns its answer. */
export async function ask(query, from = 'now-1h', to = 'now') {
  const { json } = await api('/api/ds/query', { from, to, queries: [{ refId: 'A', datasource: { uid: source }, version: 1, ...query }] });
  return json.results?.A ?? { error: JSON.stringify(json) };
}

/** All runs, the newest first: a map for each with the columns of the list. */
export async function runs() {
  const { frames } = await ask({ queryType: 'runs' });
  const { fields } = frames[0].schema;
  return (frames[0].data.values[0] ?? []).map((_, row) => Object.fromEntries(fields.map((f, i) => [f.name, frames[0].data.values[i][row]])));
}

/** Times of a run in milliseconds, with the room that a dashboard leaves. */
export async function times(id) {
  const run = (await runs()).find((r) => r.run === id);
  if (!run) {
    throw new Error(`there is no run ${id}`);
  }
  return { from: run.from_ms, to: run.to_ms };
}

export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until something holds, for at most so many seconds. */
export async function until(what, seconds, holds) {
  const end = Date.now() + seconds * 1000;
  let last;
  while (Date.now() < end) {
    last = await holds();
    if (last) {
      return last;
    }
    await wait(500);
  }
  throw new Error(`${what}: not within ${seconds} s`);
}

/** A page of its own, in UTC. */
export async function newPage(browser, height = 1200) {
  const context = await browser.newContext({ viewport: { width: 1500, height }, deviceScaleFactor: 1, timezoneId: 'UTC' });
  return context.newPage();
}

/** Opens a page and waits until nothing loads any more. */
export async function open(page, path, settled = 2500) {
  await page.goto(grafana + path, { waitUntil: 'domcontentloaded', timeout: 120_000 });
  await page.waitForSelector('[data-testid="data-testid Panel header"], [data-testid^="data-testid Panel header"], [data-testid="data-testid Explore"], main', { timeout: 120_000 });
  await quiet(page, settled);
}

/** Opens Explore on queries of some data source. */
export async function explore(page, queries, range = { from: 'now-1h', to: 'now' }, uid = source) {
  const panes = { a: { datasource: uid, queries, range } };
  await open(page, `/explore?schemaVersion=1&orgId=1&panes=${encodeURIComponent(JSON.stringify(panes))}`, 2000);
}

/** Waits until no request of a query has been under way for a while. */
export async function quiet(page, settled = 2500) {
  let last = Date.now();
  const touch = (r) => {
    if (/\/api\/(ds\/query|datasources)|\/apis\//.test(r.url())) {
      last = Date.now();
    }
  };
  page.on('request', touch);
  page.on('requestfinished', touch);
  const end = Date.now() + 90_000;
  while (Date.now() - last < settled && Date.now() < end) {
    await wait(250);
  }
  page.off('request', touch);
  page.off('requestfinished', touch);
}

/** What each panel of a page shows: its title, whether it has an error, and its words. */
export async function panels(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll('section[data-testid^="data-testid Panel header"]')].map((section) => ({
      title: section.getAttribute('data-testid').replace('data-testid Panel header ', ''),
      error: Boolean(section.querySelector('[data-testid="data-testid Panel status error"]')),
      text: section.innerText,
      drawn: Boolean(section.querySelector('canvas, table, [role="grid"], [role="table"], svg, [data-testid*="stat"]')),
    }))
  );
}

/** Keeps a picture of a dashboard: down to its last panel, or to so many pixels. */
export async function picture(page, path, most = Infinity) {
  const end = await page.evaluate(() =>
    Math.max(...[...document.querySelectorAll('section[data-testid^="data-testid Panel header"]')].map((s) => s.getBoundingClientRect().bottom))
  );
  const { width, height } = page.viewportSize();
  await page.screenshot({ path, clip: { x: 0, y: 0, width, height: Math.min(height, most, Math.ceil(end) + 12) } });
}
