// Alert rules of a server of runs that ended minutes ago: one fires, the others do not.
import { api, expect, until } from './browser.mjs';

export const groups = async () => (await api('/api/prometheus/grafana/api/v1/rules')).json.data.groups.flatMap((g) => g.rules);

/** What a rule says of a run name: alerting, normal, or undefined before the first look. */
export async function stateOf(rule, name) {
  const found = (await groups()).find((r) => r.name === rule);
  const state = found?.alerts?.find((a) => a.labels.run_name === name)?.state ?? '';
  return /Alerting|firing/i.test(state) ? 'alerting' : /Normal|inactive/i.test(state) ? 'normal' : undefined;
}

export async function rules() {
  await until('PlimsollUnstable fires', 120, async () => (await stateOf('PlimsollUnstable', 'search')) === 'alerting');
  expect('the unstable run fires', true);
  await until('PlimsollNotRecovered fires', 60, async () => (await stateOf('PlimsollNotRecovered', 'checkout')) === 'alerting');
  for (const name of ['checkout-fixed', 'payments']) {
    const state = await stateOf('PlimsollUnstable', name);
    expect(`${name} is normal`, state === 'normal', state);
  }
  for (const r of await groups()) {
    expect(`rule ${r.name} is evaluated`, r.health === 'ok', r);
    for (const a of r.alerts ?? []) {
      expect(`${r.name} has stable labels`, !/checkout-(before|after)|payments-steady|demo-/.test(JSON.stringify(a.labels)), a.labels);
    }
  }
}
