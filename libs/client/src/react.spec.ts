import { parseHTML } from 'linkedom';
import { createElement } from 'react';
import fc from 'fast-check';
import type { StreamEvent } from './generated/api.ts';
import { type UsedRun, useRun } from './react.ts';
import { Rondo } from './rondo.ts';
import { RunLog } from './run-log.ts';
import { ScriptedGateway, sendJson } from './testing/scripted-gateway.ts';
import { runEvents } from './testing/scripted-log.ts';

const [events = []] = fc.sample(runEvents, { numRuns: 1, seed: 3 });
const frame = (event: StreamEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** What the test uses of a DOM; there is none among the types of this project. */
interface Page {
  readonly window: { readonly document: { getElementById(id: string): Element & { readonly textContent: string } } };
}

const { window } = (parseHTML as (html: string) => Page)('<html><body><div id="page"></div></body></html>');
const { document } = window;
const parent = document.getElementById('page');
const location = new URL('http://localhost/');
Object.assign(globalThis, { window: Object.assign(window, { location }), document, navigator: { userAgent: '' } });

/** A page with one component that uses the run, and what it was last rendered with. */
async function page(rondo: Rondo) {
  const { createRoot } = await import('react-dom/client'); // it looks for the window when it is loaded
  const root = createRoot(parent);
  let rendered = (_: UsedRun): void => undefined;
  const Component = () => {
    const run = useRun(rondo, 'run_1');
    rendered(run);
    return createElement('p', null, run.view.status);
  };
  const until = (isSo: (run: UsedRun) => boolean) =>
    new Promise<UsedRun>((resolve) => {
      rendered = (run) => {
        if (isSo(run)) resolve(run);
      };
      root.render(createElement(Component));
    });
  return { until, text: () => parent.textContent, leave: () => root.unmount() };
}

let gateway: ScriptedGateway;
afterEach(() => gateway.close());

describe('useRun', () => {
  it('renders a run live, to its end, and over a cut connection', async () => {
    const half = Math.floor(events.length / 2);
    gateway = await ScriptedGateway.start(({ headers }, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const isFirst = headers['last-event-id'] === '0';
      if (!isFirst) response.end(events.map(frame).join(''));
      else response.write(events.slice(0, half).map(frame).join(''), () => response.destroy());
    });
    const { until, text, leave } = await page(new Rondo(gateway.options));

    const { view, error } = await until((run) => run.view.isOver && !run.isLive);

    const log = new RunLog();
    for (const event of events) log.apply(event);
    expect({ view, error }).toEqual({ view: log.view, error: null });
    expect(text()).toBe(view.status);
    leave();
  });

  it('stops reading when the component is gone', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    gateway = await ScriptedGateway.start((request, response) => {
      closed = new Promise((resolve) => request.socket.on('close', resolve));
      response.writeHead(200).write(events.slice(0, 2).map(frame).join(''));
    });
    const { until, leave } = await page(new Rondo(gateway.options));

    await until(({ isLive }) => isLive);
    leave();
    await closed;
  });

  it('shows why it cannot read the run', async () => {
    const problem = { type: 'urn:x', title: 'Not Found', status: 404, code: 'run_not_found' };
    gateway = await ScriptedGateway.start((_, response) => sendJson(response, 404, problem));
    const { until, leave } = await page(new Rondo(gateway.options));

    expect((await until((run) => run.error !== null)).error).toMatchObject({ code: 'run_not_found' });
    leave();
  });

  it('answers and stops', async () => {
    gateway = await ScriptedGateway.start(({ url = '' }, response) => {
      if (url.endsWith('/stream')) response.writeHead(204).end();
      else if (url.includes('/events')) sendJson(response, 200, { data: [], head_seq: 1 });
      else sendJson(response, 202, { id: 'run_1', status: 'completed', last_seq: 1 });
    });
    const { until, leave } = await page(new Rondo(gateway.options));
    const { answer, stop } = await until(() => true);

    await answer('Blue.');
    expect(await stop('enough')).toMatchObject({ receipt: null });

    const posts = gateway.requests.filter(({ method }) => method === 'POST').map(({ url }) => url);
    expect(posts).toEqual(['/v1/runs/run_1/input', '/v1/runs/run_1/stop']);
    leave();
  });
});
