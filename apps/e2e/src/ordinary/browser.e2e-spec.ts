import { writeFile } from 'node:fs/promises';
import { type Fact, type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { expectWholeLog } from '../log-expectations';
import { ordinaryDeployment } from '../shared-deployment';

const page = `<!doctype html><title>Shop</title><h1>A small shop</h1>
<p><label>Your name <input id="name"></label></p>
<button onclick="document.title=document.querySelector('h1').innerText='Sold to '+document.getElementById('name').value">Buy</button>`;
const server = `require('http').createServer((_, r) => r.setHeader('content-type', 'text/html').end(require('fs').readFileSync('shop.html'))).listen(8000)`;
const tools = [
  ...['create_file', 'execute_command', 'browser_navigate_to', 'browser_input_text', 'browser_click_element'],
  'web_browser_takeover',
];

const toState = (facts: readonly Fact[]) =>
  facts.flatMap(({ type, data }) => (type === 'browser.state' ? [data as Record<string, unknown>] : []));

describe('the browser in a deployment', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
  });

  it('buys in a shop that the run has made itself, and asks a person for the rest', async () => {
    const about = 'a shop that asks for money';
    const script = scriptInput(about, [
      { calls: [call('create_file', { file_path: 'shop.html', file_contents: page })] },
      { calls: [command(`(node -e "${server}" &) ; until (echo > /dev/tcp/127.0.0.1/8000) 2> /dev/null; do :; done`)] },
      { calls: [call('browser_navigate_to', { url: 'http://localhost:8000/' })] },
      { calls: [call('browser_input_text', { index: 0, text: 'Ada' })] },
      { calls: [call('browser_click_element', { index: 1 })] },
      { calls: [call('web_browser_takeover', { text: 'Please pay.' })] },
      { text: 'All done.' },
    ]);
    const run = await client.createRun({ ...script, tools, agent: { system_prompt: 'Buy.' } });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'waiting_input' });
    const facts = await client.facts(run.id);
    expect(facts.filter(({ type }) => type === 'tool.failed')).toEqual([]);
    expect(facts.at(-1)).toMatchObject({ type: 'run.waiting', data: { question: { text: 'Please pay.' } } });
    const url = 'http://localhost:8000/';
    expect(toState(facts)).toMatchObject([
      { url, title: 'Shop' },
      { url, title: 'Shop' },
      { url, title: 'Sold to Ada', screenshot: { media_type: 'image/jpeg', width: 1280, height: 800 } },
    ]);
    await expectPicture(toState(facts).at(-1)?.['screenshot'] as { sha256: string });

    await client.json('POST', `/runs/${run.id}/input`, { content: 'Paid.' });
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    expectWholeLog(await client.facts(run.id));
    const requests = await rondo.findModelRequests(about);
    const seen = requests.map(({ body }) => body.includes('The browser as it is now'));
    expect(seen).toEqual([false, false, false, true, true, true, false]);
  });

  it('a page that cannot be reached fails the call, and the run goes on', async () => {
    const script = scriptInput('nothing there', [
      { calls: [call('browser_navigate_to', { url: 'http://169.254.169.254/latest/meta-data/' })] },
      { text: 'I was not let in.' },
    ]);
    const run = await client.createRun({ ...script, tools });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const failed = (await client.facts(run.id)).filter(({ type }) => type === 'tool.failed');
    expect(failed).toMatchObject([{ data: { result: { success: false, error: expect.any(String) } } }]);
  });

  /** The blob is the screenshot, which SCREENSHOT_FILE keeps for a look at it. */
  async function expectPicture({ sha256 }: { readonly sha256: string }): Promise<void> {
    const response = await fetch(`${client.url}/v1/blobs/${sha256}`, {
      headers: { Authorization: `Bearer ${client.key}` },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.subarray(0, 3).toString('hex')).toBe('ffd8ff');
    const file = process.env['SCREENSHOT_FILE'];
    if (file !== undefined) await writeFile(file, bytes);
  }
});
