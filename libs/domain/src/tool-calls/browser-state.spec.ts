import type { AnsweredResult, BrowserState } from '@rondo/contract';
import { sha256 } from '@rondo/contract';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';

const screenshot = {
  sha256: sha256.parse('a'.repeat(64)),
  media_type: 'image/jpeg',
  width: 1280,
  height: 800,
} as const;
const shop: BrowserState = {
  url: 'http://shop.example/',
  title: 'Shop',
  elements: '[0]<button>Buy</button>',
  pixels_above: 0,
  pixels_below: 120,
  element_count: 1,
  viewport_width: 1280,
  viewport_height: 800,
  tabs: [
    { page_id: 1, title: 'Shop', url: 'http://shop.example/', is_active: true },
    { page_id: 2, title: 'Help', url: 'http://help.example/', is_active: false },
  ],
  screenshot,
};
const opened: AnsweredResult = { success: true, output: `Opened.\n${shop.elements}`, browser: shop };
const open = calls({ name: 'browser_navigate_to', arguments: { url: shop.url } });
const settings = { tools: ['browser_navigate_to', 'web_browser_takeover', 'list_files'] };

describe('the state of the browser', () => {
  it('is a message and an event after the result, and the model sees it in one call', async () => {
    const model = new ScriptedModel([open, calls({ name: 'list_files', arguments: {} }), says('Done.')]);
    const tools = new LedgeredTools(({ name }) => (name === 'list_files' ? 'nothing' : opened));
    const harness = new RunHarness({ model, tools, settings });

    await harness.activate();

    const at = harness.types.indexOf('browser.state');
    expect(harness.types.slice(at - 3, at + 1)).toEqual([
      'tool.completed',
      'message.created',
      'message.created',
      'browser.state',
    ]);
    const [completed, , created, state] = harness.log.slice(at - 3);
    expect(completed?.data).not.toHaveProperty('result.browser');
    expect(created).toMatchObject({
      data: { message: { type: 'browser_state', is_llm_message: false, metadata: { browser: shop } } },
    });
    expect(state?.data).toMatchObject({ url: shop.url, title: 'Shop', screenshot });
    const sent = model.requests.map(({ messages }) => JSON.stringify(messages));
    expect(sent.map((messages) => messages.includes('The browser as it is now'))).toEqual([false, true, false]);
    expect(sent[1]).toContain('Other tab 2: Help http://help.example/');
    expect(sent[1]).toContain(screenshot.sha256);
    expect(sent[2]).toContain(JSON.stringify(shop.elements).slice(1, -1));
  });

  it('is announced without a screenshot where there is none', async () => {
    const { screenshot: _none, ...view } = shop;
    const tools = new LedgeredTools(() => ({ ...opened, browser: view }));
    const harness = new RunHarness({ model: new ScriptedModel([open, says('Done.')]), tools, settings });

    await harness.activate();

    const state = harness.log.find(({ type }) => type === 'browser.state');
    expect(state?.data).not.toHaveProperty('screenshot');
  });
});

it('web_browser_takeover parks the run for a person, whose words continue it', async () => {
  const takeover = calls({ name: 'web_browser_takeover', arguments: { text: 'Solve the captcha.' } });
  const model = new ScriptedModel([takeover, says('Thank you.')]);
  const harness = new RunHarness({ model, settings });

  await harness.activate();

  expect(harness.store.status(harness.id)).toBe('waiting_input');
  expect(harness.log.at(-1)?.data).toMatchObject({ reason: 'ask', question: { text: 'Solve the captcha.' } });
  harness.store.answer(harness.id, 'Solved.');
  await harness.activate();
  expect(harness.store.status(harness.id)).toBe('completed');
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('Solved.');
});
