import { EventEmitter, once } from 'node:events';
import { type RequestListener, type Server, createServer } from 'node:http';
import { AnswerTooLong, RequestNotSent, createCheckedFetch } from './checked-fetch';
import { CheckedDestination, OutboundRefusal } from './checked-destination';
import type { Target } from './target';

const servers: Server[] = [];

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`; // it listens on TCP
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** The address of the test's servers counts as public, and no other. */
const admit = (target: Target) =>
  CheckedDestination.check(target, {
    resolve: () => Promise.resolve(['127.0.0.1']),
    isAllowed: (address) => address === '127.0.0.1',
  });
const fetching = (bodyBytes = 1_000_000) => createCheckedFetch({ admit, bodyBytes });

describe('checkedFetch', () => {
  it('sends method, headers and body, and returns status, headers and body', async () => {
    const url = await serving((request, response) => {
      response.writeHead(201, {
        'x-seen': `${request.method} ${String(request.headers['x-one'])} ${request.headers.host}`,
      });
      request.pipe(response);
    });
    const response = await fetching()(`${url}/path?query=1`, {
      method: 'POST',
      headers: { 'x-one': 'two', host: 'evil.example' },
      body: 'hello ü',
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-seen')).toBe(`POST two ${new URL(url).host}`);
    expect(await response.text()).toBe('hello ü');
  });

  it('streams the body while the server writes it', async () => {
    let finish: () => void = () => undefined;
    const url = await serving((_, response) => {
      response.write('first');
      finish = () => response.end('last');
    });
    const response = await fetching()(url);
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
    finish();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('last');
  });

  it('closes the connection when the body is cancelled', async () => {
    const answered = new EventEmitter();
    const closed = once(answered, 'closed');
    const url = await serving((_, response) => {
      response.on('close', () => answered.emit('closed'));
      response.write('first');
    });
    const response = await fetching()(url);
    await response.body?.cancel();
    await closed;
  });

  it('rejects with RequestNotSent when no connection is made', async () => {
    const url = await serving(() => undefined);
    const [server] = servers.splice(0);
    await new Promise((resolve) => server?.close(resolve));
    await expect(fetching()(url)).rejects.toThrow(RequestNotSent);
  });

  it('ends with the reason of its signal', async () => {
    const stop = new AbortController();
    const url = await serving(() => stop.abort(new Error('stopped')));
    await expect(fetching()(url, { signal: stop.signal })).rejects.toThrow();
    await expect(fetching()(url, { signal: stop.signal })).rejects.toThrow('stopped');
  });
});

describe('attack: an answer to checkedFetch', () => {
  it('a redirect to the metadata address is returned, and following it is refused', async () => {
    const url = await serving((_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end());
    const response = await fetching()(url);
    expect(response.status).toBe(302);
    await expect(fetching()(response.headers.get('location') ?? '')).rejects.toThrow(OutboundRefusal);
  });

  it('an endless body ends where the limit is', async () => {
    const url = await serving((_, response) => {
      const write = () => {
        while (response.write(Buffer.alloc(65_536)));
        response.once('drain', write);
      };
      write();
    });
    const response = await fetching(1_000_000)(url);
    await expect(response.text()).rejects.toThrow(AnswerTooLong);
  });

  it.each(['file:///etc/passwd', 'gopher://127.0.0.1/', 'http://user:password@127.0.0.1/'])(
    '%s is refused',
    async (url) => {
      await expect(fetching()(url)).rejects.toThrow(OutboundRefusal);
    },
  );
});
