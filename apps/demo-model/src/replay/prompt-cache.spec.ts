import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { type RunningDemoModel, runDemoModel } from '../testing/running-demo-model';

let demo: RunningDemoModel;
beforeAll(async () => {
  demo = await runDemoModel();
});
afterAll(() => demo.close());

const long = (name: string) => `${name} ${'word '.repeat(2000)}`;
const turns = (count: number, subject: string) =>
  Array.from({ length: count }, (_, at) => ({
    role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: long(`${subject} ${at}`),
  }));

describe("OpenAI's cache", () => {
  const usage = async (messages: OpenAI.ChatCompletionMessageParam[], model = 'plain') => {
    const completion = await demo.openai.chat.completions.create({ model, messages });
    const { prompt_tokens = 0, prompt_tokens_details } = completion.usage ?? {};
    return { input: prompt_tokens, cached: prompt_tokens_details?.cached_tokens };
  };

  it('reads from the cache what the previous prompt contained, message by message', async () => {
    const first = await usage(turns(3, 'a'));
    const second = await usage(turns(5, 'a'));

    expect(first.cached).toBe(0);
    expect(second.cached).toBe(first.input);
  });

  it('reads nothing for a prompt with another beginning, another model, or a short prompt', async () => {
    await usage(turns(3, 'b'));
    expect((await usage([{ role: 'system', content: 'x' }, ...turns(3, 'b')])).cached).toBe(0);
    expect((await usage(turns(3, 'b'), 'plain:tokens=5')).cached).toBe(0);
    const short = [{ role: 'user' as const, content: 'Short' }];
    await usage(short);
    expect((await usage(short)).cached).toBe(0);
  });
});

describe("Anthropic's cache", () => {
  const cache_control = { type: 'ephemeral' as const };
  const marked = (text: string) => ({
    role: 'user' as const,
    content: [{ type: 'text' as const, text, cache_control }],
  });
  const usage = async (messages: Anthropic.MessageParam[]) =>
    (await demo.anthropic.messages.create({ model: 'plain', max_tokens: 100, messages })).usage;

  it('caches what is marked, and counts it separately', async () => {
    const kept = [...turns(2, 'c'), marked(long('c 2'))];
    const first = await usage(kept);
    const second = await usage([...kept.slice(0, 2), ...turns(5, 'c').slice(2)]);
    const third = await usage([...turns(4, 'c'), marked('And?')]);

    expect(first).toMatchObject({ input_tokens: 0, cache_read_input_tokens: 0 });
    expect(first.cache_creation_input_tokens).toBeGreaterThan(7000);
    expect(second).toMatchObject({ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 });
    expect(third.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    expect(third).toMatchObject({ input_tokens: 0 });
    expect(third.cache_creation_input_tokens).toBeGreaterThan(2000);
  });

  it('searches at most twenty blocks before a mark', async () => {
    const kept = marked(long('d'));
    await usage([kept]);
    const after = (blocks: number) => [
      { role: 'user' as const, content: [{ type: 'text' as const, text: long('d') }] },
      {
        role: 'assistant' as const,
        content: Array.from({ length: blocks }, () => ({ type: 'text' as const, text: 'x' })),
      },
      marked('And?'),
    ];

    expect((await usage(after(20))).cache_read_input_tokens).toBe(0);
    expect((await usage(after(19))).cache_read_input_tokens).toBeGreaterThan(2000);
  });
});

describe('a context limit', () => {
  const content = long('e');

  it('refuses a longer prompt as each provider does, and records no violation', async () => {
    const model = 'plain:context_limit=1000';
    const messages = [{ role: 'user' as const, content }];
    await expect(demo.openai.chat.completions.create({ model, messages })).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'messages',
      message: expect.stringContaining("This model's maximum context length is 1000 tokens."),
    });
    await expect(demo.anthropic.messages.create({ model, max_tokens: 9, messages })).rejects.toMatchObject({
      status: 400,
      error: {
        error: {
          type: 'invalid_request_error',
          message: expect.stringMatching(/^prompt is too long: \d+ tokens > 1000 maximum$/),
        },
      },
    });
    expect(await demo.get('/violations')).toMatchObject({ total: 0 });
  });

  it('counts an image as 1,500 tokens, however large its file is', async () => {
    const url = `data:image/png;base64,${'A'.repeat(400_000)}`;
    const { usage } = await demo.openai.chat.completions.create({
      model: 'plain',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    });

    expect(usage?.prompt_tokens).toBeGreaterThan(1500);
    expect(usage?.prompt_tokens).toBeLessThan(1600);
  });
});
