import { RondoError } from '@rondo/client';
import { placeRefusals } from './refusals.ts';

const refused = (code: string, ...errors: { field: string; message: string }[]): RondoError =>
  new RondoError({ type: 'about:blank', title: 'Refused', status: 409, code, detail: 'It is not possible.', errors });
const invalid = (field: string, message: string) => refused('invalid_request', { field, message });
const codes = { name_taken: 'name' };

describe('what was refused of a form', () => {
  it('is said of each field that the problem names, as a sentence', () => {
    const error = refused(
      'invalid_request',
      { field: 'name', message: 'must not be empty' },
      { field: 'user', message: 'Not one.' },
    );

    expect(placeRefusals(error, ['name', 'user'])).toEqual({
      refusals: { name: 'This must not be empty.', user: 'Not one.' },
      rest: null,
    });
  });

  it('is said of the field that the code of the problem is about', () => {
    const { refusals } = placeRefusals(refused('name_taken'), ['name'], { codes });

    expect(refusals).toEqual({ name: 'It is not possible.' });
  });

  it.each([
    ['the part of the request that the form is of', 'run.input', ['input'], 'input'],
    ['one item of a field', 'hosts.3', ['hosts', 'name'], 'hosts'],
    ['a field below another one', 'files.0.path', ['files', 'files.0.path'], 'files.0.path'],
    ['what several fields are parts of', 'packages', ['size.cpus', 'packages.npm', 'packages.apt'], 'packages.npm'],
  ])('is found where the problem is in %s', (_, field, names, name) => {
    const { refusals } = placeRefusals(invalid(field, 'is required'), names, { part: 'run' });

    expect(refusals).toEqual({ [name]: 'This is required.' });
  });

  it('is said below the form where it is about no field that is shown', () => {
    const error = refused(
      'invalid_request',
      { field: 'name', message: 'is required' },
      { field: 'zone', message: 'is no zone' },
    );

    expect(placeRefusals(error, ['name'])).toEqual({
      refusals: { name: 'This is required.' },
      rest: new Error('zone: is no zone'),
    });
    expect(placeRefusals(error, ['names'])).toEqual({ refusals: {}, rest: error });
  });

  it('is not looked for where something else went wrong', () => {
    const lost = new Error('The network is gone.');

    expect(placeRefusals(refused('forbidden'), ['name'], { codes }).refusals).toEqual({});
    expect(placeRefusals(lost, ['name'], { codes })).toEqual({ refusals: {}, rest: lost });
  });
});
