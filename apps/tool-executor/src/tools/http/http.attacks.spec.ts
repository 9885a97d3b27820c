import { TestServers, publicAddresses } from '../../testing/test-servers';
import { ExecutorFixture } from '../../testing/executor-fixture';

describe('attack: sandbox network', () => {
  const answers = new Map<string, string[]>();
  let four: TestServers;
  let six: TestServers;
  let fixture: ExecutorFixture;

  beforeAll(async () => {
    four = await TestServers.open((request, response) => {
      const location = new URL(request.url ?? '', 'http://any').searchParams.get('to');
      if (location === null) response.end(`target ${request.headers.host}`);
      else response.writeHead(302, { location }).end();
    });
    six = await TestServers.open((request, response) => response.end(`target ${request.headers.host}`), { at: '::1' });
    const resolve = async (host: string) => answers.get(host)?.splice(0, 1) ?? [];
    fixture = await ExecutorFixture.open({}, { resolve, isAllowed: (address) => publicAddresses.includes(address) });
  });
  afterAll(async () => {
    await fixture.close();
    await four.close();
    await six.close();
  });
  beforeEach(() => {
    answers.set('public.example', Array(3).fill('127.0.0.2'));
    answers.set('six.example', ['::1']);
    answers.set('rebind.example', ['127.0.0.2', '127.0.0.1']);
    [four, six].forEach(({ canary, target }) => [canary, target].forEach((seen) => (seen.length = 0)));
  });
  afterEach(() => expect([...four.canary, ...six.canary]).toEqual([]));

  const get = (url: string) =>
    fixture.use('http_request', {
      method: 'GET',
      url: url.replaceAll('FOUR', String(four.port)).replaceAll('SIX', String(six.port)),
    });

  it('http_request: a public host that ends at the loopback of the machine', async () => {
    expect((await get('http://public.example:FOUR/')).output).toContain('target public.example');
    expect((await get('http://six.example:SIX/')).output).toContain('target six.example');
    expect((await get('http://[::1]:SIX/')).output).toContain('target [::1]');
    expect({ four: four.target, six: six.target }).toEqual({ four: ['127.0.0.2'], six: ['::1', '::1'] });
  });

  it('http_request: a redirect to a public host that ends at the loopback of the machine', async () => {
    expect((await get('http://public.example:FOUR/?to=http://public.example:FOUR/')).output).toContain('target public');
    expect((await get('http://public.example:FOUR/?to=http://[::1]:SIX/')).output).toContain('target [::1]');
    expect({ four: four.target, six: six.target }).toEqual({ four: Array(3).fill('127.0.0.2'), six: ['::1'] });
  });

  it.each([
    'http://127.0.0.1:FOUR/',
    'http://2130706433:FOUR/',
    'http://[::ffff:127.0.0.1]:FOUR/',
    'http://169.254.169.254/latest/meta-data/',
    'http://user:password@127.0.0.1:FOUR/',
    'gopher://127.0.0.1:FOUR/_FLUSHALL',
    'file:///etc/passwd',
  ])('http_request: a redirect to %s', async (to) => {
    const result = await get(
      `http://public.example:FOUR/?to=${encodeURIComponent(to.replace('FOUR', String(four.port)))}`,
    );

    expect(result).toMatchObject({ success: false, error: expect.stringMatching(/^Nothing was sent to/) });
    expect(four.target).toHaveLength(1);
  });

  it('http_request: a name that resolves to another address the second time, after a redirect to itself', async () => {
    const result = await get('http://rebind.example:FOUR/?to=http://rebind.example:FOUR/');

    expect(result.error).toContain('rebind.example is not a public address');
    expect(four.target).toEqual(['127.0.0.2']);
  });
});
