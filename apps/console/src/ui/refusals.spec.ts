import { RondoError } from '@rondo/client';
import { findRefusals } from './refusals.ts';

const refused = (code: string, ...errors: { field: string; message: string }[]): RondoError =>
  new RondoError({ type: 'about:blank', title: 'Refused', status: 409, code, detail: 'It is not possible.', errors });
const fields = { name_taken: 'name' };

describe('what was refused of a form', () => {
  it('is each field that the problem names', () => {
    const error = refused(
      'invalid_request',
      { field: 'name', message: 'too long' },
      { field: 'user', message: 'not one' },
    );

    expect(findRefusals(error, fields)).toEqual({ name: 'too long', user: 'not one' });
  });

  it('is the field that the code of the problem is about', () => {
    expect(findRefusals(refused('name_taken'), fields)).toEqual({ name: 'It is not possible.' });
  });

  it('is none where something else went wrong', () => {
    expect(findRefusals(refused('forbidden'), fields)).toEqual({});
    expect(findRefusals(new Error('The network is gone.'), fields)).toEqual({});
  });
});
