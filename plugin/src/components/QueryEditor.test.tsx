import React from 'react';
import { CoreApp } from '@grafana/data';
import { fireEvent, render, screen } from '@testing-library/react';
import type { PlimsollDatasource } from '../datasource';
import { kinds, Part } from '../kinds';
import { Kind, PlimsollQuery } from '../types';
import { AnnotationsEditor } from './AnnotationsEditor';
import { QueryEditor } from './QueryEditor';

const labels: Record<Part, string> = {
  run: 'Run',
  other: 'After',
  scenario: 'Scenario',
  source: 'Source',
  step: 'Step',
  deadline: 'Deadline',
  names: 'Columns',
  clock: 'Clock',
  search: 'With',
  limit: 'At most',
  measure: 'Measure',
  hold: 'Hold, minutes',
  show: 'Events',
  prefix: 'Prefix',
};

const setup = (query: Partial<PlimsollQuery>, app?: CoreApp) => {
  const onChange = jest.fn();
  const onRunQuery = jest.fn();
  const datasource = { offers: jest.fn().mockResolvedValue([]) } as unknown as PlimsollDatasource;
  render(<QueryEditor datasource={datasource} query={{ refId: 'A', ...query }} onChange={onChange} onRunQuery={onRunQuery} app={app} />);
  return { onChange, onRunQuery };
};

describe('QueryEditor', () => {
  (Object.keys(kinds) as Kind[]).forEach((kind) => {
    it(`shows what ${kind} takes and nothing else`, () => {
      setup({ queryType: kind });
      for (const part of Object.keys(labels) as Part[]) {
        const label = part === 'run' && kind === 'compare' ? 'Before' : labels[part];
        const found = screen.queryAllByText(label).length > 0;
        expect({ part, found }).toEqual({ part, found: kinds[kind].parts.includes(part) });
      }
    });
  });

  it('asks when a field is left, and only when it changed', () => {
    const { onChange, onRunQuery } = setup({ queryType: 'verdict', run: 'latest' });
    fireEvent.blur(screen.getByLabelText('Deadline'), { target: { value: '' } });
    expect(onChange).not.toHaveBeenCalled();
    fireEvent.blur(screen.getByLabelText('Deadline'), { target: { value: '300ms' } });
    expect(onChange).toHaveBeenCalledWith({ refId: 'A', queryType: 'verdict', version: 1, run: 'latest', deadline: '300ms' });
    expect(onRunQuery).toHaveBeenCalledTimes(1);
  });

  it('keeps a number only if it is one', () => {
    const { onChange } = setup({ queryType: 'runs' });
    fireEvent.blur(screen.getByLabelText('At most'), { target: { value: '0' } });
    expect(onChange).not.toHaveBeenCalled();
    fireEvent.blur(screen.getByLabelText('At most'), { target: { value: '10' } });
    expect(onChange).toHaveBeenCalledWith(expect.objectContaining({ limit: 10 }));
  });

  it('changes the clock of a series', () => {
    const { onChange } = setup({ queryType: 'series', names: ['offered'] });
    fireEvent.click(screen.getByLabelText('Since the start'));
    expect(onChange).toHaveBeenCalledWith(expect.objectContaining({ queryType: 'series', clock: 'elapsed', names: ['offered'] }));
  });
});

describe('AnnotationsEditor', () => {
  it('changes the target of the annotation', () => {
    const onAnnotationChange = jest.fn();
    render(
      <AnnotationsEditor
        datasource={{ offers: jest.fn().mockResolvedValue([]) } as unknown as PlimsollDatasource}
        query={{ refId: 'A' }}
        onChange={jest.fn()}
        onRunQuery={jest.fn()}
        annotation={{ name: 'a', enable: true, iconColor: 'red', target: { refId: 'Anno', run: 'latest' } }}
        onAnnotationChange={onAnnotationChange}
      />
    );
    expect(screen.queryByText('Show')).toBeNull();
    expect(screen.getByText('Events')).toBeInTheDocument();
    expect(onAnnotationChange).not.toHaveBeenCalled();
  });
});
