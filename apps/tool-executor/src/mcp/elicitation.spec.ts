import type { McpServerRequest } from '@rondo/contract';
import type { ToolReply } from '@rondo/messaging';
import { McpServerFixture } from './testing/mcp-server-fixture';
import { McpUseFixture } from './testing/mcp-use-fixture';

let server: McpServerFixture;
let fixture: McpUseFixture;

beforeAll(async () => {
  fixture = await McpUseFixture.open();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  server = await McpServerFixture.open('2026');
});
afterEach(() => server.close());

const request = (): McpServerRequest => ({ name: 'tickets', transport: 'streamable_http', url: server.url });

/** The server asks this of each call that has no answer. */
function asks(params: object, requestState = 'signed state'): void {
  server.answer = ({ input }) =>
    input?.responses === undefined
      ? {
          resultType: 'input_required',
          inputRequests: { q1: { method: 'elicitation/create', params } as never },
          requestState,
        }
      : { content: [{ type: 'text', text: JSON.stringify(input) }] };
}

async function firstReply(): Promise<Extract<ToolReply, { how: 'answered' }>> {
  await fixture.list(request());
  const reply = await fixture.reply(request(), 'tickets__echo', { text: 'x' });
  if (reply.how !== 'answered') throw new Error(JSON.stringify(reply));
  return reply;
}

describe('a server that asks people before it completes a call', () => {
  it('has its form read, and gets the answer with its own state, also from another executor', async () => {
    asks({
      message: 'Why?',
      requestedSchema: {
        type: 'object',
        properties: {
          reason: { type: 'string', title: 'Reason', maxLength: 20 },
          level: { type: 'string', oneOf: [{ const: 'a', title: 'Low' }] },
          sure: { type: 'boolean', default: true },
        },
        required: ['reason'],
      },
    });

    const { input_required: required, result } = await firstReply();
    expect(result).toMatchObject({ success: false, error: 'It asks for input: Why?' });
    expect(required).toEqual({
      state: 'signed state',
      asked: [
        {
          ...{ key: 'q1', server: 'tickets', mode: 'form', message: 'Why?' },
          fields: {
            reason: { type: 'string', title: 'Reason', max_length: 20, required: true },
            level: { type: 'string', options: [{ value: 'a', title: 'Low' }], required: false },
            sure: { type: 'boolean', default: true, required: false },
          },
        },
      ],
    });

    await fixture.restart();
    const answers = { q1: { action: 'accept' as const, content: { reason: 'a refund' } } };
    const reply = await fixture.reply(
      request(),
      'tickets__echo',
      { text: 'x' },
      { input: { answers, state: 'signed state' } },
    );
    expect(reply).toMatchObject({
      result: { success: true, output: JSON.stringify({ responses: answers, state: 'signed state' }) },
    });
  });

  it('names a page, which is opened by a person only', async () => {
    asks({ mode: 'url', message: 'Sign in.', url: 'https://example.org/sign-in', elicitationId: 'e1' });
    expect((await firstReply()).input_required).toMatchObject({
      asked: [{ mode: 'url', url: 'https://example.org/sign-in' }],
    });
  });

  it('may want only to be asked again', async () => {
    server.answer = ({ input }) =>
      input?.state === 'later'
        ? { content: [{ type: 'text', text: 'done' }] }
        : { resultType: 'input_required', requestState: 'later' };
    expect((await firstReply()).result).toEqual({ success: true, output: 'done' });
  });
});

describe('attack: a question of an MCP server', () => {
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, { type: 'string' }]));
  const url = (address: string) => ({ mode: 'url', message: 'Open it.', url: address, elicitationId: 'e1' });

  it.each<[string, object]>([
    ['with a form of 51 fields', { message: 'x', requestedSchema: { type: 'object', properties: fields(51) } }],
    [
      'with a form in a form',
      { message: 'x', requestedSchema: { type: 'object', properties: { a: { type: 'object', properties: {} } } } },
    ],
    ['for a page that is not encrypted', url('http://example.org/')],
    ['for a page of a script', url('javascript:alert(1)')],
    ['for a page with a password in its address', url('https://user:password@example.org/')],
  ])('%s reaches no person, and its call says so', async (_, params) => {
    asks(params);
    const { input_required: required, result } = await firstReply();
    expect(required).toBeUndefined();
    expect(result.error).toContain('because it asks for something that it cannot get');
  });

  it('shows no characters that hide text', async () => {
    asks({ message: 'Your\u202e name\u001b[2J?', requestedSchema: { type: 'object', properties: {} } });
    expect((await firstReply()).input_required?.asked[0]?.message).toBe('Your name?');
  });
});
