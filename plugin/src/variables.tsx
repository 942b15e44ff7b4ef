import React from 'react';
import { from, map, Observable } from 'rxjs';
import { CustomVariableSupport, DataQueryRequest, DataQueryResponse, FieldType, QueryEditorProps } from '@grafana/data';
import { Combobox, InlineField, InlineFieldRow, Input } from '@grafana/ui';
import type { PlimsollDatasource } from './datasource';
import { Offer, PlimsollOptions, PlimsollQuery, PlimsollVariableQuery } from './types';

type Props = QueryEditorProps<PlimsollDatasource, PlimsollQuery, PlimsollOptions, PlimsollVariableQuery>;

const lists: Array<{ value: PlimsollVariableQuery['list']; label: string; description: string }> = [
  { value: 'runs', label: 'Runs', description: 'ids, the newest first, after "latest"' },
  { value: 'names', label: 'Names of runs', description: 'each stands for its newest run' },
  { value: 'scenarios', label: 'Scenarios', description: 'of one run' },
  { value: 'steps', label: 'Steps', description: 'of one run' },
  { value: 'queues', label: 'Queues', description: 'metrics of the servers under test, for a series' },
  { value: 'sources', label: 'Sources', description: 'generator processes of one run' },
];

/** Chooses what a variable lists. */
export function VariableEditor({ query, onChange }: Props) {
  const now: PlimsollVariableQuery = { ...query, refId: query.refId ?? 'variable', list: query.list ?? 'runs' };
  return (
    <InlineFieldRow>
      <InlineField label="List" labelWidth={14} htmlFor="plimsoll-list">
        <Combobox id="plimsoll-list" width={24} options={lists} value={now.list} onChange={(option) => onChange({ ...now, list: option.value })} />
      </InlineField>
      {now.list === 'runs' && (
        <InlineField label="With" labelWidth={10} tooltip="Part of an id or a name">
          <Input aria-label="With" width={24} defaultValue={now.search} onBlur={(e) => onChange({ ...now, search: e.currentTarget.value })} />
        </InlineField>
      )}
      {now.list !== 'runs' && now.list !== 'names' && (
        <InlineField label="Run" labelWidth={10} tooltip="An id, latest, latest:NAME, or a variable">
          <Input
            aria-label="Run"
            width={24}
            placeholder="latest"
            defaultValue={now.run}
            onBlur={(e) => onChange({ ...now, run: e.currentTarget.value })}
          />
        </InlineField>
      )}
    </InlineFieldRow>
  );
}

/** Fills variables with runs, names, scenarios, steps, queues and sources. */
export class PlimsollVariables extends CustomVariableSupport<PlimsollDatasource, PlimsollVariableQuery, PlimsollQuery, PlimsollOptions> {
  editor = VariableEditor;

  constructor(private readonly datasource: PlimsollDatasource) {
    super();
  }

  query = (request: DataQueryRequest<PlimsollVariableQuery>): Observable<DataQueryResponse> => {
    const target = request.targets[0];
    const params = target.list === 'runs' ? { q: target.search } : { run: target.run };
    return from(this.datasource.offers(target.list ?? 'runs', params)).pipe(map((offers) => ({ data: [frame(offers)] })));
  };
}

function frame(offers: Offer[]) {
  return {
    name: 'variable',
    length: offers.length,
    fields: [
      { name: 'text', type: FieldType.string, config: {}, values: offers.map((o) => o.label) },
      { name: 'value', type: FieldType.string, config: {}, values: offers.map((o) => o.value) },
    ],
  };
}
