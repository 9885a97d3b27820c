import fc from 'fast-check';
import { profiles } from '../profiles/profiles';
import { effectOf, expectedEffect } from './define-tool';
import { httpRequest } from './http.tools';

const url = 'https://example.org/';
const effectOfRequest = (given: Record<string, unknown>) => effectOf(httpRequest, { url, ...given });

describe('http_request', () => {
  it.each([
    ['GET', 'pure'],
    ['HEAD', 'pure'],
    ['OPTIONS', 'pure'],
    ['PUT', 'idempotent'],
    ['DELETE', 'idempotent'],
    ['POST', 'unsafe'],
    ['PATCH', 'unsafe'],
  ])('I5: a %s is %s', (method, effect) => {
    expect(effectOfRequest({ method })).toBe(effect);
  });

  it('I5: is keyed where the server is known to honour keys, and only where there is a doubt to settle', () => {
    const keyed = { idempotency: 'key_honoured' };

    expect(effectOfRequest({ method: 'POST', ...keyed })).toBe('keyed');
    expect(effectOfRequest({ method: 'PATCH', ...keyed })).toBe('keyed');
    expect(effectOfRequest({ method: 'GET', ...keyed })).toBe('pure');
  });

  it('I5: counts as unsafe as long as its arguments are not known to be right', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (given) => effectOf(httpRequest, given) === 'unsafe'),
    );
    expect(effectOfRequest({ method: 'GET', headers: { accept: 1 } })).toBe('unsafe');
    expect(expectedEffect(httpRequest)).toBe('unsafe');
  });

  it.each(['file:///etc/passwd', 'gopher://example.org/', 'javascript:1', 'example.org', '//example.org'])(
    'takes no %s for an address',
    (given) => {
      expect(httpRequest.input.safeParse({ method: 'GET', url: given }).success).toBe(false);
    },
  );

  it('is given to a run only when it is asked for', () => {
    for (const { settings } of Object.values(profiles)) expect(settings.tools).not.toContain('http_request');
  });
});
