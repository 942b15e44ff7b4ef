// Every dashboard over every run that it is for: each panel shows data in their
// unit, or says why there is no number.
import { ask, expect, newPage, open, panels, picture, runs, source, times } from './browser.mjs';

const rates = /^(offered|sent|ended|completed|goodput|error|timeout|shed|cancelled|dropped|retries|capacity(_low|_high)?|recommended|all_served|step_\d+)$/;
const seconds = /^((response|service)_p\d+|send_delay_p99|first_byte_p99|inter_token_p99|p\d+(_s)?|response|service|deadline|drain|lasts|yM(in|ax)|queue:.*duration.*)$/;
const ratios = /^(lost|residual|tolerance)$/;
const counts = /^(in_flight(_provisional)?|first_half|second_half|queue:.*|counted|corrected|lambda_w|count)$/;

/** The unit that a column must have; undefined where it has none. */
function unitOf(kind, name) {
  for (const [unit, names] of [['reqps', rates], ['s', seconds], ['percentunit', ratios], ['short', counts]]) {
    if (names.test(name) && kind !== 'compare') {
      return unit;
    }
  }
  return undefined;
}

const known = (value) => value !== null && value !== undefined && value !== '';

/** What is wrong with an answer: an error, a unit, or numbers that are missing without a word. */
export function faults(kind, answer) {
  if (answer.error) {
    return [answer.error];
  }
  const wrong = [];
  const frames = (answer.frames ?? []).filter((f) => f.schema.fields.length > 0);
  const notices = (answer.frames ?? []).flatMap((f) => f.schema.meta?.notices ?? []).map((n) => n.text);
  for (const frame of frames) {
    frame.schema.fields.forEach((field, i) => {
      const want = unitOf(kind, field.name);
      if (field.type === 'number' && want && field.config?.unit !== want) {
        wrong.push(`${field.name} has the unit ${field.config?.unit}, not ${want}`);
      }
      if (kind === 'series' && !frame.data.values[i].some(known) && !notices.some((n) => /no number/i.test(n))) {
        wrong.push(`${field.name} is empty and no notice says why`);
      }
    });
  }
  if (kind !== 'annotations' && !frames.some((f) => f.data.values.some((v) => v.some(known))) && notices.length === 0) {
    wrong.push('is empty and no notice says why');
  }
  return wrong;
}

const run = (id, words) => ({ name: `run-${id}`, uid: 'plimsoll-run', run: id, vars: `var-run=${id}`, height: 4300, words });
const live = (id, words) => ({ name: `live-${id}`, uid: 'plimsoll-live', run: id, vars: `var-run=${id}&refresh=`, height: 2400, words });
const llm = (id, words) => ({ name: `llm-${id}`, uid: 'plimsoll-llm', run: id, vars: `var-run=${id}`, height: 2900, words });
const compare = (before, after, words) => ({
  name: `compare-${before}`, uid: 'plimsoll-compare', run: before, vars: `var-before=${before}&var-after=${after}`, height: 2300, words,
});

/** Simulated runs, and captures of other generators. */
export const looks = [
  run('checkout-before', {
    Verdict: /FAIL/, Capacity: /462\/s/, 'Past capacity': /collapse/, 'In time, of completed': /88 of 441\/s/,
    'After the push': /NOT recovered at 300\/s in 1500 s/, 'What not to trust': /2 of 8 steps have no percentiles.*dropped 4\.1\s%.*22\s%/s,
  }),
  run('checkout-after', { Verdict: /PASS/, Capacity: /459\/s/, 'After the push': /recovered after 11 s/, 'What not to trust': /valid/ }),
  run('k6-overload', { Verdict: /FAIL/ }),
  run('vegeta-stall', { Verdict: /PASS/ }),
  run('jmeter-stall', { Verdict: /INCONCLUSIVE/ }),
  live('k6-overload', { Verdict: /FAIL/ }),
  live('vegeta-stall', { Verdict: /PASS/ }),
  live('jmeter-stall', { Verdict: /INCONCLUSIVE/ }),
  compare('checkout-before', 'checkout-after'),
  compare('vegeta-stall', 'k6-overload'),
  compare('jmeter-stall', 'vegeta-stall'),
  { name: 'fleet', uid: 'plimsoll-fleet', vars: 'from=now-2h&to=now', height: 1500 },
  llm('chat-sweep', { Verdict: /PASS/ }),
  llm('k6-overload', { Verdict: /FAIL/ }),
];

/** The demonstration, before and after its fix; a machine that stood still meanwhile proves nothing. */
export const demonstrated = (before, after) => [
  run(before, { Verdict: /FAIL/ }),
  run(after, { Verdict: /PASS|INCONCLUSIVE/ }),
  live(before, { Verdict: /FAIL/ }),
  live(after, { Verdict: /PASS|INCONCLUSIVE/ }),
  compare(before, after),
];

/** Looks at one dashboard, and keeps a picture of it. */
async function lookAt(browser, look, shots) {
  const page = await newPage(browser, look.height);
  const answers = [];
  page.on('response', (r) => {
    if (r.url().includes('/api/ds/query')) {
      answers.push(r.json().then((json) => ({ status: r.status(), json, asked: r.request().postDataJSON() })).catch(() => undefined));
    }
  });
  const { from, to } = look.run ? await times(look.run) : {};
  await open(page, `/d/${look.uid}?${look.vars}&var-ds=${source}${look.run ? `&from=${from}&to=${to}` : ''}&kiosk`);
  const seen = await panels(page);
  expect(`${look.name}: panels`, seen.length >= 3, seen.map((p) => p.title));
  for (const p of seen) {
    expect(`${look.name}: ${p.title} has no error`, !p.error, p.text);
    expect(`${look.name}: ${p.title} shows something`, p.drawn && !/No data|Unable to|not a valid|An unexpected error|NaN|undefined/.test(p.text), p.text);
  }
  for (const [title, words] of Object.entries(look.words ?? {})) {
    const found = seen.find((p) => p.title === title);
    expect(`${look.name}: ${title} says ${words}`, found && words.test(found.text), found?.text ?? 'no such panel');
  }
  for (const answer of (await Promise.all(answers)).filter(Boolean)) {
    expect(`${look.name}: no query is refused`, answer.status < 400, answer.json);
    for (const query of answer.asked.queries) {
      const wrong = faults(query.queryType, answer.json.results?.[query.refId] ?? { error: 'no answer' });
      expect(`${look.name}: ${query.queryType} ${query.names ?? ''}`, wrong.length === 0, wrong);
    }
  }
  if (look.name === 'run-checkout-before') {
    const marks = await page.locator('[data-testid="data-testid annotation-marker"]').count();
    expect('annotations show', marks > 3, marks);
  }
  await picture(page, `${shots}/${look.name}.png`);
  await picture(page, `${shots}/${look.name}-top.png`, 1250);
  await page.context().close();
}

export async function dashboards(browser, all, shots) {
  for (const look of all) {
    await lookAt(browser, look, shots);
  }
}

const columns = ['offered', 'sent', 'completed', 'goodput', 'error', 'timeout', 'shed', 'dropped', 'in_flight', 'response_p50', 'response_p99', 'service_p99', 'send_delay_p99'];

/** Every kind of query over every run. */
export async function queries() {
  const all = await runs();
  for (const { run: id, from_ms: from, to_ms: to } of all) {
    for (const queryType of ['verdict', 'steps', 'knee', 'series', 'spectrum', 'heatmap', 'littleslaw', 'findings', 'goodput', 'annotations', 'compare']) {
      const answer = await ask({ queryType, run: id, other: all[0].run, names: queryType === 'series' ? columns : undefined }, from, to);
      const wrong = faults(queryType, answer);
      expect(`${queryType} of ${id}`, wrong.length === 0, wrong);
    }
  }
}
