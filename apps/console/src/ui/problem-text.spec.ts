import { RondoError } from '@rondo/client';
import { problemText } from './problem-text.ts';

const refused = (detail: string, ...errors: { field: string; message: string }[]): RondoError =>
  new RondoError({ type: 'about:blank', title: 'Unprocessable', status: 422, code: 'invalid_request', detail, errors });

describe('the text of a refused request', () => {
  it('says a message once that is also in the detail', () => {
    const error = refused('cron: must have five fields', { field: 'cron', message: 'must have five fields' });
    expect(problemText(error)).toBe('cron: must have five fields');
  });

  it('says the messages that the detail does not have', () => {
    const error = refused('The request is not valid.', { field: 'cron', message: 'must have five fields' });
    expect(problemText(error)).toBe('The request is not valid. cron: must have five fields');
  });
});
