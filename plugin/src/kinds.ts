import { Kind, PlimsollQuery } from './types';

/** Fields of an editor. */
export type Part = 'run' | 'other' | 'scenario' | 'source' | 'step' | 'deadline' | 'names' | 'clock' | 'search' | 'limit' | 'measure' | 'hold' | 'show' | 'prefix';

interface KindInfo {
  label: string;
  description: string;
  parts: Part[];
}

/** What each kind of query is for, and what can be set in it. */
export const kinds: Record<Kind, KindInfo> = {
  verdict: { label: 'Verdict', description: 'What the run proves: outcome, headline, capacity, recovery', parts: ['run', 'deadline', 'scenario', 'source'] },
  steps: { label: 'Steps', description: 'A row per step, with the reason where there is no number', parts: ['run', 'deadline', 'scenario', 'source', 'step'] },
  knee: { label: 'Knee curve', description: 'Completed, goodput and p99 by offered rate', parts: ['run', 'deadline', 'scenario', 'source', 'prefix'] },
  series: {
    label: 'Series',
    description: 'Rates, in flight, percentiles and queues over time',
    parts: ['run', 'names', 'deadline', 'scenario', 'source', 'prefix', 'clock'],
  },
  spectrum: { label: 'Percentile spectrum', description: 'Corrected against uncorrected times by percentile', parts: ['run', 'scenario', 'source', 'prefix'] },
  heatmap: { label: 'Heatmap', description: 'Requests by due time and response time', parts: ['run', 'scenario', 'source'] },
  littleslaw: { label: "Little's law", description: 'The check of the measurement, per step', parts: ['run', 'scenario', 'source', 'step'] },
  findings: { label: 'Findings', description: 'All that was found out, the worst first', parts: ['run', 'deadline', 'scenario', 'source', 'step'] },
  goodput: { label: 'Goodput against deadline', description: 'What each deadline would have given', parts: ['run', 'scenario', 'source', 'step'] },
  compare: { label: 'Compare', description: 'Two runs, step by step, with intervals', parts: ['run', 'other', 'deadline', 'scenario'] },
  runs: { label: 'Runs', description: 'All runs, newest first', parts: ['search', 'limit'] },
  capacity: { label: 'Capacity over time', description: 'What each service carried, run by run', parts: ['search', 'limit'] },
  alert: {
    label: 'Alert',
    description: 'A number per run name: 0 pass, 1 inconclusive, 2 invalid, 3 fail',
    parts: ['measure', 'search', 'scenario', 'deadline', 'hold'],
  },
  annotations: { label: 'Annotations', description: 'Steps, unstable stretches, knee, recovery, marks', parts: ['run', 'show', 'scenario', 'source', 'step'] },
};

/** Columns of a series. */
export const columns: Array<{ value: string; label: string; description: string }> = [
  ['offered', 'due per second, dropped ones included'],
  ['sent', 'sent per second'],
  ['ended', 'left the system per second, whatever the outcome'],
  ['completed', 'successful answers per second, however late'],
  ['goodput', 'answers within the deadline per second'],
  ['error', 'per second'],
  ['timeout', 'per second'],
  ['shed', 'rejected per second'],
  ['cancelled', 'per second'],
  ['dropped', 'due and never sent, per second'],
  ['retries', 'per second'],
  ['in_flight', 'requests due and not ended, settled'],
  ['in_flight_provisional', 'up to the newest data; may still change'],
  ['response_p50', 'from when requests were due'],
  ['response_p90', 'from when requests were due'],
  ['response_p95', 'from when requests were due'],
  ['response_p99', 'from when requests were due'],
  ['response_p999', 'from when requests were due'],
  ['service_p50', 'from the send: uncorrected'],
  ['service_p90', 'from the send: uncorrected'],
  ['service_p95', 'from the send: uncorrected'],
  ['service_p99', 'from the send: uncorrected'],
  ['service_p999', 'from the send: uncorrected'],
  ['send_delay_p99', "the generator's lateness"],
  ['first_byte_p99', 'to the first byte or token'],
  ['inter_token_p99', 'between the tokens of an answer'],
  ['tokens', 'output tokens per second'],
].map(([value, description]) => ({ value, label: value, description }));

/** Kinds of annotations. */
export const shows: Array<{ value: string; label: string }> = [
  { value: 'steps', label: 'Steps' },
  { value: 'unstable', label: 'Unstable stretches' },
  { value: 'knee', label: 'Knee' },
  { value: 'recovery', label: 'Recovery' },
  { value: 'marks', label: 'Marks' },
  { value: 'refused', label: 'Stretches without percentiles' },
];

/** Measures of an alert. */
export const measures: Array<{ value: NonNullable<PlimsollQuery['measure']>; label: string; description: string }> = [
  { value: 'outcome', label: 'Outcome', description: 'of the verdict' },
  { value: 'unstable', label: 'Unstable', description: 'the backlog grows without end' },
  { value: 'generator', label: 'Generator', description: 'the generator or the data cannot be trusted' },
  { value: 'goodput', label: 'Goodput', description: 'objectives on goodput, one number each' },
  { value: 'recovery', label: 'Recovery', description: 'the service did not recover after a push' },
];

/** A query in one line, for the collapsed editor and the query history. */
export function describe(query: PlimsollQuery): string {
  const kind = kinds[query.queryType ?? 'verdict'];
  const bits = [kind?.label ?? query.queryType ?? ''];
  if (kind?.parts.includes('run')) {
    bits.push(query.run || 'latest');
  }
  if (query.queryType === 'compare') {
    bits.push('against', query.other || '?');
  }
  if (query.queryType === 'series') {
    bits.push((query.names ?? []).join(', '));
  }
  if (query.queryType === 'alert') {
    bits.push(query.measure ?? 'outcome');
  }
  return bits.filter(Boolean).join(' ');
}
