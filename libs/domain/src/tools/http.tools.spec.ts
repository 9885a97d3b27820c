import fc from 'fast-check';
import { profiles } from '../profiles/profiles';
import { toEffect, expectEffect, honoursKeysAt, hostPattern } from './define-tool';
import { httpRequest } from './http.tools';

const url = 'https://example.org/';
const honoursKeys = honoursKeysAt(['example.org', '*.pay.example', '127.0.0.1:9000']);
const effectOfRequest = (given: Record<string, unknown>) => toEffect(httpRequest, { url, ...given }, honoursKeys);

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

  it('I5: is keyed where the operator says so of the server, the model of the request, and only where there is a doubt to settle', () => {
    const keyed = { idempotency: 'key_honoured' };

    expect(effectOfRequest({ method: 'POST', ...keyed })).toBe('keyed');
    expect(effectOfRequest({ method: 'PATCH', ...keyed })).toBe('keyed');
    expect(effectOfRequest({ method: 'GET', ...keyed })).toBe('pure');
  });

  it('I5: counts as unsafe as long as its arguments are not known to be right', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (given) => toEffect(httpRequest, given) === 'unsafe'),
    );
    expect(effectOfRequest({ method: 'GET', headers: { accept: 1 } })).toBe('unsafe');
    expect(expectEffect(httpRequest)).toBe('unsafe');
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

describe('attack: model and tool output', () => {
  const post = { method: 'POST', idempotency: 'key_honoured' };

  it.each([
    ['that the operator did not name', 'https://other.example/'],
    ['whose name ends like a named one', 'https://evilexample.org/'],
    ['below a host that was named alone', 'https://a.example.org/'],
    ['that is the parent of what was named', 'https://pay.example/'],
    ['with a named one as its user', 'https://example.org@evil.example/'],
    ['with a named one as its user and a port', 'https://example.org:443@evil.example/'],
    ['with a named one in its path', 'https://evil.example/example.org'],
    ['with a named one behind a backslash', 'https://evil.example\\\\@example.org/'],
    ['at another port of a named one', 'https://example.org:8443/'],
    ['at no port where one was named', 'http://127.0.0.1/'],
  ])('a model that says of a server %s that it honours keys, to have a payment sent twice', (_, address) => {
    expect(effectOfRequest({ ...post, url: address })).toBe('unsafe');
  });

  it.each(['https://example.org/', 'https://EXAMPLE.org:443/a', 'http://a.b.pay.example/', 'http://127.0.0.1:9000/'])(
    'a model that says so of a server that the operator named is believed: %s',
    (address) => {
      expect(effectOfRequest({ ...post, url: address })).toBe('keyed');
    },
  );

  it('a model that says so where the operator named no host', () => {
    expect(toEffect(httpRequest, { url, ...post })).toBe('unsafe');
  });

  it.each(['*', '*.', 'https://example.org', 'example.org/path', 'a b', '*example.org', 'a.*.b'])(
    'a pattern that would mean more than it says: %s',
    (pattern) => {
      expect(hostPattern.safeParse(pattern).success).toBe(false);
    },
  );
});
