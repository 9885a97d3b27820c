import { requestEarly, takeEarly } from './early-requests.ts';

const url = 'http://localhost/v1/runs/run_1/stream';
const from = (seq: number) => ({ headers: { 'Last-Event-ID': String(seq) } });

describe('a request that is sent before its reader has come', () => {
  let signals: (AbortSignal | null | undefined)[] = [];
  let answer: () => Promise<Response>;

  beforeEach(() => {
    jest.useFakeTimers();
    signals = [];
    answer = () => Promise.resolve(new Response('facts'));
    jest.spyOn(globalThis, 'fetch').mockImplementation((_, init) => {
      signals.push(init?.signal);
      return answer();
    });
  });
  afterEach(async () => {
    await jest.runAllTimersAsync();
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('is answered once', async () => {
    requestEarly(url, from(0).headers);
    expect(await (await takeEarly(url, from(0)))?.text()).toBe('facts');
    expect(await takeEarly(url, from(0))).toBeUndefined();
  });

  it('does not answer another request', async () => {
    requestEarly(url, from(0).headers);
    expect(await takeEarly(url, from(7))).toBeUndefined();
    expect(await takeEarly('http://localhost/v1/runs/run_1', from(0))).toBeUndefined();
  });

  it.each([
    ['sent without a session', () => Promise.resolve(new Response('{}', { status: 401 }))],
    ['lost', () => Promise.reject(new TypeError('Failed to fetch'))],
  ])('that was %s is sent again by its reader', async (_, refuse) => {
    answer = refuse;
    requestEarly(url);
    expect(await takeEarly(url)).toBeUndefined();
  });

  it('is not sent again where what it asks for is not there', async () => {
    answer = () => Promise.resolve(new Response('{}', { status: 404 }));
    requestEarly(url);
    expect((await takeEarly(url))?.status).toBe(404);
  });

  it('ends when its reader leaves, and when none comes', async () => {
    const reader = new AbortController();
    requestEarly(url);
    await takeEarly(url, { signal: reader.signal });
    await jest.runAllTimersAsync();
    expect(signals[0]?.aborted).toBe(false);
    reader.abort();
    expect(signals[0]?.aborted).toBe(true);

    requestEarly(url);
    await jest.runAllTimersAsync();
    expect(signals[1]?.aborted).toBe(true);
    expect(await takeEarly(url)).toBeUndefined();
  });
});
