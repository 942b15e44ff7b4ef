// Links from the p99 of a step to the traces of its slowest requests: where a data
// source with traces is set they ask it for the run and for what is slow; else there are none.
import { api, expect, kindOfSource, newPage, open, source, times } from './browser.mjs';

/** The links of the steps table, in its p99 column. */
async function links(browser, uid, run) {
  const page = await newPage(browser, 3000);
  const { from, to } = await times(run);
  await open(page, `/d/plimsoll-run?var-run=${run}&var-ds=${uid}&from=${from}&to=${to}&kiosk`);
  const found = await page.locator('section[data-testid="data-testid Panel header Steps"] a[href*="/explore"]').evaluateAll((all) => all.map((a) => a.href));
  await page.context().close();
  return found.filter((href) => href.includes('panes=')).map((href) => Object.values(JSON.parse(new URL(href).searchParams.get('panes')))[0]);
}

export async function traces(browser) {
  const { json: own } = await api(`/api/datasources/uid/${source}`);
  const made = async (body) => (await api('/api/datasources', { access: 'proxy', ...body })).json.datasource.uid;
  const tempo = await made({ name: 'Traces of the specs', type: 'tempo', url: 'http://127.0.0.1:3200' });
  const traced = await made({
    name: 'Plimsoll with traces', type: kindOfSource, url: own.url, jsonData: { tracesUid: tempo, tracesName: 'Traces of the specs' },
  });
  try {
    expect('no links without a data source of traces', (await links(browser, source, 'checkout-before')).length === 0);
    const found = await links(browser, traced, 'checkout-before');
    const { from, to } = await times('checkout-before');
    expect('steps have links to traces', found.length >= 5, found);
    for (const pane of found) {
      const [query] = pane.queries;
      expect('a link leads to the data source of traces', pane.datasource === tempo && query.queryType === 'traceql', pane);
      expect('a link leads to the time of its step', Number(pane.range.from) >= Number(from) && Number(pane.range.to) <= Number(to) + 60_000, [pane.range, from, to]);
      expect('a link asks for the slowest of the run', /^\{ \.loadtest\.run\.id = "checkout-before" && duration >= \d+us \}$/.test(query.query), query);
    }
  } finally {
    await api(`/api/datasources/uid/${traced}`, undefined, 'DELETE');
    await api(`/api/datasources/uid/${tempo}`, undefined, 'DELETE');
  }
}
