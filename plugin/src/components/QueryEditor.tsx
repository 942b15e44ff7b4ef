import React, { useCallback, useMemo } from 'react';
import { CoreApp, QueryEditorProps } from '@grafana/data';
import { EditorField, EditorRow, EditorRows } from '@grafana/plugin-ui';
import { Combobox, ComboboxOption, Input, MultiCombobox, RadioButtonGroup } from '@grafana/ui';
import type { PlimsollDatasource } from '../datasource';
import { columns, kinds, measures, Part, shows } from '../kinds';
import { Kind, PlimsollOptions, PlimsollQuery, queryVersion } from '../types';

type Props = QueryEditorProps<PlimsollDatasource, PlimsollQuery, PlimsollOptions> & {
  /** The kind of query cannot be changed: annotations. */
  fixed?: boolean;
};

const clocks: Array<{ value: 'wall' | 'elapsed'; label: string }> = [
  { value: 'wall', label: 'Time of day' },
  { value: 'elapsed', label: 'Since the start' },
];

/** Chooses the kind of a query first, and then only what that kind takes. */
export function QueryEditor({ datasource, query, onChange, onRunQuery, app, fixed }: Props) {
  const kind: Kind = query.queryType ?? 'verdict';
  const id = (name: string) => `plimsoll-${query.refId}-${name}`;
  const takes = (part: Part) => kinds[kind].parts.includes(part);
  const set = useCallback(
    (change: Partial<PlimsollQuery>) => {
      onChange({ ...query, version: queryVersion, queryType: kind, ...change });
      onRunQuery();
    },
    [query, kind, onChange, onRunQuery]
  );
  // A choice counts once its menu has closed. While it closes, a click without length (a program's) makes Explore of
  // Grafana 13.1 render too often at once, and React gives up on the page (error 185).
  const choose = (change: Partial<PlimsollQuery>) => setTimeout(() => set(change));
  // The same functions from one render to the next: a choice asks again when its function changes.
  const offers = useMemo(() => {
    const of = (list: string) => async (typed: string) => {
      const found = await datasource.offers(list, { run: query.run, q: typed }).catch(() => []);
      return found.filter((o) => list === 'runs' || `${o.label} ${o.value}`.toLowerCase().includes(typed.toLowerCase()));
    };
    const queues = of('queues');
    return {
      runs: of('runs'),
      scenarios: of('scenarios'),
      sources: of('sources'),
      steps: of('steps'),
      columns: async (typed: string) => [...columns.filter((c) => c.value.includes(typed)), ...(await queues(typed))],
    };
  }, [datasource, query.run]);
  const alerting = app === CoreApp.UnifiedAlerting || app === CoreApp.CloudAlerting;
  const offered = useMemo(
    () =>
      (Object.keys(kinds) as Kind[])
        .filter((k) => k !== 'annotations' && (!alerting || ['alert', 'series', 'capacity'].includes(k)))
        .map((value) => ({ value, label: kinds[value].label, description: kinds[value].description })),
    [alerting]
  );
  const choice = (name: 'run' | 'other' | 'scenario' | 'source' | 'step', label: string, list: 'runs' | 'scenarios' | 'sources' | 'steps', placeholder: string, tooltip: string) => (
    <EditorField label={label} tooltip={tooltip} width={26}>
      <Combobox
        id={id(name)}
        isClearable
        createCustomValue
        options={offers[list]}
        value={query[name] || null}
        placeholder={placeholder}
        onChange={(option: ComboboxOption<string> | null) => choose({ [name]: option?.value ?? '' })}
      />
    </EditorField>
  );
  const text = (name: 'deadline' | 'search' | 'prefix', label: string, placeholder: string, tooltip: string) => (
    <EditorField label={label} tooltip={tooltip} width={18}>
      <Input
        key={query[name] ?? ''}
        id={id(name)}
        placeholder={placeholder}
        defaultValue={query[name]}
        onBlur={(e) => e.currentTarget.value !== (query[name] ?? '') && set({ [name]: e.currentTarget.value })}
      />
    </EditorField>
  );
  const whole = (name: 'limit' | 'holdMin', label: string, byDefault: number, tooltip: string) => (
    <EditorField label={label} tooltip={tooltip} width={14}>
      <Input
        key={query[name] ?? byDefault}
        id={id(name)}
        type="number"
        min={1}
        defaultValue={query[name] ?? byDefault}
        onBlur={(e) => Number(e.currentTarget.value) > 0 && set({ [name]: Number(e.currentTarget.value) })}
      />
    </EditorField>
  );
  return (
    <EditorRows>
      <EditorRow>
        {!fixed && (
          <EditorField label="Show" width={30}>
            <Combobox
              id={id('show')}
              options={offered}
              value={kind}
              onChange={(option) => choose({ queryType: option.value })}
            />
          </EditorField>
        )}
        {takes('run') &&
          choice('run', kind === 'compare' ? 'Before' : 'Run', 'runs', 'latest', 'An id, latest, latest:NAME (the newest of that name), or a variable')}
        {takes('other') && choice('other', 'After', 'runs', 'choose a run', 'The run to compare with')}
        {takes('measure') && (
          <EditorField label="Measure" width={22}>
            <Combobox id={id('measure')} options={measures} value={query.measure ?? 'outcome'} onChange={(o) => choose({ measure: o.value })} />
          </EditorField>
        )}
        {takes('names') && (
          <EditorField label="Columns" tooltip="Queues of the servers under test stand at the end" width={60}>
            <MultiCombobox
              id={id('names')}
              createCustomValue
              options={offers.columns}
              value={query.names ?? ['offered', 'completed', 'goodput']}
              onChange={(all) => choose({ names: all.map((o) => o.value) })}
            />
          </EditorField>
        )}
        {takes('show') && (
          <EditorField label="Events" tooltip="None chosen shows all" width={60}>
            <MultiCombobox id={id('events')} options={shows} value={query.show ?? []} onChange={(all) => choose({ show: all.map((o) => o.value) })} />
          </EditorField>
        )}
      </EditorRow>
      <EditorRow>
        {takes('deadline') && text('deadline', 'Deadline', 'as declared', 'Counts goodput against this deadline, such as 300ms or 2s')}
        {takes('scenario') && choice('scenario', 'Scenario', 'scenarios', 'all', 'Only this stream of the run')}
        {takes('source') && choice('source', 'Source', 'sources', 'all', 'Only this generator process')}
        {takes('step') && choice('step', 'Step', 'steps', 'all', 'Only this step')}
        {takes('search') && text('search', 'With', 'all runs', 'Part of an id or a name')}
        {takes('limit') && whole('limit', 'At most', 50, 'Newest runs')}
        {takes('hold') && whole('holdMin', 'Hold, minutes', 15, 'A finished run counts for this long, so that a failed one does not resolve by being over')}
        {takes('prefix') && text('prefix', 'Prefix', 'none', 'Before the names of curves, to tell runs apart')}
        {takes('clock') && (
          <EditorField label="Clock" tooltip="Since the start lays runs of different times over each other, in an XY chart or a trend">
            <RadioButtonGroup options={clocks} value={query.clock ?? 'wall'} onChange={(clock) => set({ clock })} />
          </EditorField>
        )}
      </EditorRow>
    </EditorRows>
  );
}
