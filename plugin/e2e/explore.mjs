// Explore: every kind of query, and an editor that keeps what is chosen with the
// keyboard and with the mouse.
import { expect, explore, kindOfSource, newPage, quiet, source, times } from './browser.mjs';

const kinds = {
  verdict: /FAIL/, steps: /lossy/, knee: null, series: null, spectrum: null, heatmap: null, littleslaw: /Agrees|yes/, findings: /fail/,
  goodput: null, compare: /Figure|Before/, runs: /Headline/i, capacity: null, alert: /3|FAIL/,
};

const query = (queryType, more) => ({ refId: 'A', datasource: { type: kindOfSource, uid: source }, queryType, version: 1, run: 'checkout-before', ...more });

/** The query as Explore keeps it in the address. */
const kept = (page) => Object.values(JSON.parse(new URL(page.url()).searchParams.get('panes')))[0].queries[0];

export async function everyKind(browser, shots) {
  const page = await newPage(browser);
  const range = await times('checkout-before');
  for (const [kind, words] of Object.entries(kinds)) {
    await explore(page, [query(kind, { other: 'checkout-after', holdMin: 1440 })], range);
    const text = await page.locator('body').innerText();
    expect(`explore ${kind}: no error`, !/Query error|Unexpected error|plugin\.downstreamError|No data/.test(text), text.slice(-600));
    expect(`explore ${kind}: shows`, !words || words.test(text), text.slice(-600));
    await page.screenshot({ path: `${shots}/explore-${kind}.png` });
  }
  await page.context().close();
}

/** Changes a query in the editor as a person does, and finds it changed. */
export async function editor(browser, shots) {
  const page = await newPage(browser);
  await explore(page, [query('verdict')]);
  await page.getByLabel('Show', { exact: true }).first().fill('Findings');
  await page.getByRole('option', { name: /Findings/ }).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await quiet(page);
  await page.getByLabel('Deadline', { exact: true }).fill('1s');
  await page.getByLabel('Deadline', { exact: true }).blur();
  await quiet(page);
  const now = kept(page);
  expect('editor keeps what was chosen', now.queryType === 'findings' && now.deadline === '1s' && now.run === 'checkout-before', now);
  await page.screenshot({ path: `${shots}/editor.png` });
  await page.reload();
  await quiet(page);
  expect('editor shows it again', (await page.getByLabel('Deadline', { exact: true }).inputValue()) === '1s');
  await page.context().close();
}

/** Chooses kinds of queries with the mouse, one after the other. */
export async function mouse(browser, shots) {
  const page = await newPage(browser);
  const broken = [];
  page.on('pageerror', (e) => broken.push(String(e)));
  await explore(page, [query('verdict')]);
  for (const [label, kind] of [['Steps', 'steps'], ['Knee curve', 'knee'], ['Verdict', 'verdict'], ['Series', 'series']]) {
    await page.getByLabel('Show', { exact: true }).first().click();
    await page.getByRole('option', { name: new RegExp(`^${label}`) }).first().click();
    await quiet(page);
    expect(`mouse chooses ${kind}`, kept(page).queryType === kind, kept(page));
  }
  await page.getByLabel('Run', { exact: true }).first().click();
  await page.getByRole('option', { name: /^latest/ }).first().click();
  await quiet(page);
  expect('mouse chooses a run', kept(page).run === 'latest' && kept(page).queryType === 'series', kept(page));
  expect('the mouse breaks nothing', broken.length === 0 && !/unexpected error/i.test(await page.locator('body').innerText()), broken);
  await page.screenshot({ path: `${shots}/mouse.png` });
  await page.context().close();
}
