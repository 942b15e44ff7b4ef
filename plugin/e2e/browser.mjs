// What the specs share: a browser, Grafana's API, and what a panel shows.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

export const grafana = (process.env.GRAFANA_URL ?? 'http://127.0.0.1:3000').replace(/\/$/, '');

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function launch() {
  const executablePath = process.env.CHROMIUM ?? browsers.find(existsSync);
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'] });
}

/** Calls Grafana's API; anonymous visitors are administrators in the demo. */
export async function api(path, body) {
  const headers = { 'Content-Type': 'application/json' };
  if (process.env.GRAFANA_AUTH) {
    headers.Authorization = `Basic ${Buffer.from(process.env.GRAFANA_AUTH).toString('base64')}`;
  }
  const answer = await fetch(grafana + path, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
  const text = await answer.text();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`${path}: ${answer.status} ${text.slice(0, 200)}`);
  }
  return { status: answer.status, json };
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

/** Opens a page and waits until nothing loads any more. */
export async function open(page, path, settled = 2500) {
  await page.goto(grafana + path, { waitUntil: 'domcontentloaded', timeout: 120_000 });
  await page.waitForSelector('[data-testid="data-testid Panel header"], [data-testid^="data-testid Panel header"], [data-testid="data-testid Explore"], main', { timeout: 120_000 });
  await quiet(page, settled);
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
