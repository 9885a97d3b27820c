import { RunningGateway, adminKey } from '../testing/running-gateway';
import { pageOrigin } from './allowed-origins';

const page = 'https://app.example.com';
const [stranger, sibling] = ['https://evil.example.com', 'https://app.example.com:8443'];

const gateway = RunningGateway.forSuite({ ALLOWED_ORIGINS: [page] });

const ask = (
  path: string,
  origin: string,
  init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
) => fetch(`${gateway.url}${path}`, { ...init, headers: { ...init.headers, origin } });
const withKey = { headers: { authorization: `Bearer ${adminKey}` } };
const allowed = ({ headers }: Response) => headers.get('access-control-allow-origin');

describe('pages of other origins', () => {
  it('read answers and errors, and the headers that say how to go on, if their origin is allowed', async () => {
    const [answer, refused, unknown] = await Promise.all([
      ask('/v1/runs', page, withKey),
      ask('/v1/runs', page),
      ask('/v1/nothing', page, withKey),
    ]);

    expect([answer, refused, unknown].map(({ status }) => status)).toEqual([200, 401, 404]);
    expect([answer, refused, unknown].map(allowed)).toEqual([page, page, page]);
    expect(answer.headers.get('access-control-expose-headers')).toMatch(/Retry-After.*X-Vercel-AI-UI-Message-Stream/);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('are asked for no key before the request itself', async () => {
    const preflight = await ask('/v1/runs', page, {
      method: 'OPTIONS',
      headers: {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    });

    expect(preflight.status).toBe(204);
    expect(allowed(preflight)).toBe(page);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,content-type,idempotency-key');
    expect(preflight.headers.get('access-control-allow-methods')).toContain('DELETE');
  });

  it('connect sockets by long polling', async () => {
    const handshake = await ask('/socket.io/?EIO=4&transport=polling', page);

    expect(handshake.status).toBe(200);
    expect(allowed(handshake)).toBe(page);
  });
});

describe('attack: public API', () => {
  it('a page of an origin that is not allowed reads an answer', async () => {
    const answers = await Promise.all(
      [stranger, sibling, 'null'].flatMap((origin) => [
        ask('/v1/runs', origin, withKey),
        ask('/v1/runs', origin, { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } }),
        ask('/socket.io/?EIO=4&transport=polling', origin),
      ]),
    );

    expect(answers.map(allowed)).toEqual(answers.map(() => null));
  });

  it('a page of an allowed origin uses the session of its visitor', async () => {
    const signedIn = await fetch(`${gateway.url}/v1/session`, { method: 'POST', ...withKey });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(cookie).not.toBe('');

    const answers = await Promise.all(
      ['GET', 'POST'].map((method) => ask('/v1/threads', page, { method, headers: { cookie } })),
    );

    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
  });
});

describe('ALLOWED_ORIGINS', () => {
  it.each(['https://app.example.com/', 'app.example.com', '*', 'https://app.example.com:443', 'null'])(
    'refuses %s, which no browser sends as an origin',
    (text) => {
      expect(pageOrigin.safeParse(text).error?.issues[0]?.message).toContain('write it as https://app.example.com');
    },
  );
});
