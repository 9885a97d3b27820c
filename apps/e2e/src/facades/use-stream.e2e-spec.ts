import { useStream as useStream15 } from '@langchain/langgraph-sdk/react';
import { call, command } from '@rondo/test-deployment';
import { useStream as useStream11 } from 'langgraph-sdk-1-11/react';
import { parseHTML } from 'linkedom';
import { createElement, useEffect } from 'react';
import { FacadeDeployment, long } from './facade-deployment';
import { human } from './langgraph-client';

/** What the spec itself uses of a page. The types of a browser are not among those of this project. */
interface Page {
  readonly window: object;
  readonly document: {
    createElement(name: string): unknown;
    readonly body: { appendChild(element: unknown): unknown };
  };
}

type UseStream = typeof useStream15;
type Options = Readonly<Record<string, unknown>>;
type Used = Pick<ReturnType<UseStream>, 'messages' | 'isLoading' | 'interrupt' | 'error' | 'submit' | 'stop'>;

/** What React and the hook use of a page, which Node has not. React looks for the window as long as it has work, so that stays. */
const { window, document } = parseHTML('<html><body></body></html>') as unknown as Page;
const location = new URL('http://localhost/');
const isNew = !('navigator' in globalThis);
beforeAll(() => {
  const navigator = { userAgent: '' };
  Object.assign(globalThis, { window: Object.assign(window, { location }), document }, isNew && { navigator });
});
afterAll(() => {
  if (isNew) Reflect.deleteProperty(globalThis, 'navigator'); // with it, clients of the specs that follow refuse keys
});

/** A reload ends the connections of a page; to leave it does not. */
const cutBy = (signal: AbortSignal) => ({
  fetch: (url: string, init?: RequestInit) =>
    fetch(url, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal }),
});

const deployment = FacadeDeployment.forSuite();
const hooks: [string, UseStream][] = [
  ['1.15', useStream15],
  ['1.11', useStream11 as unknown as UseStream],
];

describe.each(hooks)('useStream of LangGraph SDK %s', (version, useStream) => {
  /** A page with one component that uses the hook. */
  const open = async (options: Options) => {
    const { createRoot } = await import('react-dom/client'); // it looks for the window when it is loaded
    const page = document.body.appendChild(document.createElement('main'));
    const root = createRoot(page as Parameters<typeof createRoot>[0]);
    let shown = (_: Used): void => undefined;
    let used: Used | undefined;
    const Component = () => {
      const { url, key } = deployment.client;
      const asked = { apiUrl: `${url}/langgraph`, apiKey: key, assistantId: 'demo/scripted', ...options };
      const now: Used = useStream(asked as unknown as Parameters<UseStream>[0]); // its types forbid what they cannot join
      useEffect(() => {
        used = now; // not before the effects of the hook, which end what was begun earlier
        shown(now);
      });
      return createElement('p');
    };
    const until = (isSo: (now: Used) => boolean) =>
      new Promise<Used>((resolve) => {
        shown = (now) => {
          if (isSo(now)) resolve(now);
        };
        if (used) shown(used);
      });
    root.render(createElement(Component));
    const first = await until(() => true);
    const latest = () => used ?? first;
    const submit = (...given: Parameters<Used['submit']>) => latest().submit(...given);
    return { until, submit, stop: () => latest().stop(), leave: () => root.unmount() };
  };

  const said = ({ messages }: Used) =>
    messages.map(({ type, content }) => `${type}: ${typeof content === 'string' ? content : JSON.stringify(content)}`);
  const isOver = (now: Used) => !now.isLoading && now.messages.length > 0;

  it('shows a run with its tool, and the same after a reload', async () => {
    let threadId: string | undefined;
    const first = await open({ onThreadId: (id: string) => (threadId = id) });
    const turns = [{ text: 'I look.', calls: [command('echo seen')] }, { text: 'It said seen.' }];
    void first.submit(human(`page ${version}`, turns));
    const shown = said(await first.until((now) => isOver(now) && now.messages.length === 4));
    expect(shown[1]).toBe('ai: I look.');
    expect(shown[2]).toContain('seen');
    expect(shown[3]).toBe('ai: It said seen.');
    first.leave();

    const again = await open({ threadId: threadId ?? null, fetchStateHistory: true });
    expect(said(await again.until(isOver))).toEqual(shown);
    again.leave();
  });

  it('is stopped, and then answers a question', async () => {
    const page = await open({});
    void page.submit(human(`page stop ${version}`, [{ text: long, pace_ms: 20 }]));
    await page.until((now) => (said(now)[1] ?? '').length > 100);
    await page.stop();
    const stopped = await page.until(isOver);
    expect((said(stopped)[1] ?? '').length).toBeLessThan(long.length);

    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    void page.submit(human(`page ask ${version}`, turns));
    const asked = await page.until(({ interrupt, isLoading }) => interrupt !== undefined && !isLoading);
    expect(asked.interrupt).toMatchObject({ value: { question: 'Which colour?' } });
    void page.submit(undefined, { command: { resume: 'Blue.' } });
    expect(said(await page.until((now) => isOver(now) && said(now).at(-1) === 'ai: It is blue.'))).toHaveLength(6);
    page.leave();
  });

  it('goes on with the reply that is being written when its page is loaded again, and shows all of it once', async () => {
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    };
    let threadId: string | undefined;
    const left = new AbortController();
    const onThreadId = (id: string) => (threadId = id);
    const first = await open({ reconnectOnMount: () => storage, onThreadId, callerOptions: cutBy(left.signal) });
    const text = long.slice(0, 1_600);
    const turns = [
      { text: 'I look.', calls: [command('echo seen')] },
      { text, pace_ms: 20 },
    ];
    void first.submit(human(`page reload ${version}`, turns));
    await first.until((now) => (said(now)[3] ?? '').length > 100);
    first.leave();
    left.abort();

    const again = await open({ reconnectOnMount: () => storage, threadId });
    const shown = new Set<string>();
    const whole = await again.until((now) => {
      for (const message of said(now).slice(3)) shown.add(message);
      return isOver(now) && said(now).at(-1) === `ai: ${text}`;
    });
    expect(said(whole)).toMatchObject({ length: 4, 1: 'ai: I look.' });
    expect([...shown].filter((message) => !`ai: ${text}`.startsWith(message))).toEqual([]);
    expect(shown.size).toBeGreaterThan(2); // it was shown while it was written
    again.leave();
  });
});
