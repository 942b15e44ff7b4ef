import React from 'react';
import { lastValueFrom } from 'rxjs';
import { DataQueryRequest } from '@grafana/data';
import { fireEvent, render, screen } from '@testing-library/react';
import type { PlimsollDatasource } from './datasource';
import { PlimsollVariableQuery } from './types';
import { PlimsollVariables, VariableEditor } from './variables';

const ask = async (target: Partial<PlimsollVariableQuery>) => {
  const offers = jest.fn().mockResolvedValue([{ value: 'latest:orders', label: 'orders' }]);
  const support = new PlimsollVariables({ offers } as unknown as PlimsollDatasource);
  const request = { targets: [{ refId: 'v', ...target }] } as DataQueryRequest<PlimsollVariableQuery>;
  const answer = await lastValueFrom(support.query(request));
  return { offers, answer };
};

describe('variables', () => {
  it('lists with a text to show and a value to use', async () => {
    const { offers, answer } = await ask({ list: 'names' });
    expect(offers).toHaveBeenCalledWith('names', { run: undefined });
    const fields = answer.data[0].fields;
    expect(fields.map((f: { name: string }) => f.name)).toEqual(['text', 'value']);
    expect(fields[0].values).toEqual(['orders']);
    expect(fields[1].values).toEqual(['latest:orders']);
  });

  it('searches runs and asks parts of one run', async () => {
    expect((await ask({ list: 'runs', search: 'ord' })).offers).toHaveBeenCalledWith('runs', { q: 'ord' });
    expect((await ask({ list: 'queues', run: '$run' })).offers).toHaveBeenCalledWith('queues', { run: '$run' });
  });

  it('shows what a list takes', () => {
    const onChange = jest.fn();
    const props = { datasource: {} as PlimsollDatasource, onChange, onRunQuery: jest.fn() };
    const { rerender } = render(<VariableEditor {...props} query={{ refId: 'v', list: 'runs' }} />);
    expect(screen.queryByLabelText('Run')).toBeNull();
    fireEvent.blur(screen.getByLabelText('With'), { target: { value: 'ord' } });
    expect(onChange).toHaveBeenCalledWith({ refId: 'v', list: 'runs', search: 'ord' });
    rerender(<VariableEditor {...props} query={{ refId: 'v', list: 'steps' }} />);
    expect(screen.getByLabelText('Run')).toBeInTheDocument();
  });
});
