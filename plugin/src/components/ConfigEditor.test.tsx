import React from 'react';
import { DataSourceSettings } from '@grafana/data';
import { fireEvent, render, screen } from '@testing-library/react';
import { PlimsollOptions, PlimsollSecrets } from '../types';
import { ConfigEditor } from './ConfigEditor';

jest.mock('@grafana/runtime', () => ({ ...jest.requireActual('@grafana/runtime'), DataSourcePicker: () => null }));

const options = (change: Partial<DataSourceSettings<PlimsollOptions, PlimsollSecrets>> = {}) =>
  ({ url: '', jsonData: {}, secureJsonFields: {}, secureJsonData: {}, ...change }) as DataSourceSettings<PlimsollOptions, PlimsollSecrets>;

describe('ConfigEditor', () => {
  it('keeps the token as a secret', () => {
    const onOptionsChange = jest.fn();
    render(<ConfigEditor options={options()} onOptionsChange={onOptionsChange} />);
    fireEvent.change(screen.getByLabelText('Token'), { target: { value: 'x' } });
    expect(onOptionsChange).toHaveBeenCalledWith(expect.objectContaining({ secureJsonData: { token: 'x' }, jsonData: {} }));
  });

  it('never shows a token that is set', () => {
    render(<ConfigEditor options={options({ secureJsonFields: { token: true } })} onOptionsChange={jest.fn()} />);
    expect(screen.getByLabelText('Token')).toBeDisabled();
  });
});
