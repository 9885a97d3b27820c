import { type Opaque, callId } from '@rondo/contract';
import type { AssistantBlock, ModelMessage } from '@rondo/domain';
import { createModels } from '../models';
import { openAi } from '../testing/protocol-scripts';
import { readReply, requestTo } from '../testing/read-model-reply';
import { ScriptedProvider } from '../testing/scripted-provider';

let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
afterAll(() => provider.stop());

const withOpaque = (opaque: Opaque | undefined) => opaque && { opaque };

/** The messages of the request that follows a reply of these pieces, which has one call, to the same model or to another. */
async function findFollowing(deltas: readonly object[], to = 'acme/m', from = 'acme/m') {
  const names = [...new Set([from, to].map((model) => model.slice(0, model.indexOf('/'))))];
  const models = createModels({
    providers: names.map((name) => ({
      ...{ name, kind: 'openai' as const, baseUrl: `${provider.url}/v1` },
      ...{ apiKey: 'key', headers: {}, models: [] },
    })),
    retries: { attempts: 1 },
  });
  const never = new AbortController().signal;
  const pieces = [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: 'tool_calls' }];
  provider.will({ pieces: pieces.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`) });
  const { chunks, end } = await readReply(models.stream(requestTo(from), never));
  expect(end).toMatchObject({ how: 'finished', finishReason: 'tool_calls' });

  const id = callId.parse('call_1');
  const content: AssistantBlock[] = [];
  let text = '';
  let signature: Opaque | undefined;
  for (const chunk of chunks) {
    if (chunk.type === 'reasoning') text += chunk.text;
    if (chunk.type === 'reasoning_end') content.push({ type: 'reasoning', text, ...withOpaque(chunk.opaque) });
    if (chunk.type === 'reasoning_end') text = '';
    if (chunk.type === 'call_start' || chunk.type === 'call_end') signature = chunk.opaque ?? signature;
  }
  content.push({ type: 'tool_call', id, name: 'see', arguments: {}, ...withOpaque(signature) });
  const messages: ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'Go' }] },
    { role: 'assistant', content },
    { role: 'tool', results: [{ tool_call_id: id, text: 'seen', is_error: false }] },
  ];
  provider.will({ pieces: openAi.whole('Fine.') });
  await readReply(models.stream(requestTo(to, { messages }), never));
  const [, , reply, result] = provider.requests[0]?.body['messages'] as Record<string, unknown>[];
  return { reply, result };
}

const call = { index: 0, id: 'call_x', function: { name: 'see', arguments: '{}' } };
const signed = { provider_specific_fields: { thought_signature: 'SIGNED' } };
const inFunction = { tool_calls: [{ ...call, function: { ...call.function, ...signed } }] };
const inId = { tool_calls: [{ ...call, id: 'call_x__thought__SIGNED' }] };
const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'SIGNED' }];

describe('what a gateway wants back with a call', () => {
  it('goes back at the function, where LiteLLM had put it', async () => {
    const { reply } = await findFollowing([inFunction]);

    expect(reply).toMatchObject({ tool_calls: [{ function: { name: 'see', arguments: '{}', ...signed } }] });
  });

  it('goes back in the id of the call and of its result, where LiteLLM had put it', async () => {
    const { reply, result } = await findFollowing([inId]);

    expect(reply).toMatchObject({ tool_calls: [{ id: 'call_x__thought__SIGNED' }] });
    expect(result).toMatchObject({ tool_call_id: 'call_x__thought__SIGNED' });
  });

  it.each([
    ['before the call', [{ reasoning_text: 'Hm.' }, { reasoning_opaque: 'SIGNED' }, { tool_calls: [call] }]],
    ['with the call', [{ reasoning_text: 'Hm.' }, { reasoning_opaque: 'SIGNED', tool_calls: [call] }]],
    ['after the call', [{ reasoning_text: 'Hm.' }, { tool_calls: [call] }, { reasoning_opaque: 'SIGNED' }]],
  ])('goes back in the fields of Copilot, if it came %s', async (_, deltas) => {
    const { reply } = await findFollowing(deltas);

    expect(reply).toMatchObject({ reasoning_text: 'Hm.', reasoning_opaque: 'SIGNED' });
  });

  it('goes back although Copilot hides the thought itself', async () => {
    const { reply } = await findFollowing([{ reasoning_opaque: 'SIGNED' }, { tool_calls: [call] }]);

    expect(reply).toMatchObject({ reasoning_opaque: 'SIGNED' });
    expect(reply).not.toHaveProperty('reasoning_text');
  });

  it('goes back to a gateway whose model has a name that is known', async () => {
    const gemini = 'acme/gemini-3-pro';
    const copilot = await findFollowing([{ reasoning_opaque: 'SIGNED', tool_calls: [call] }], gemini, gemini);
    expect(copilot.reply).toMatchObject({ reasoning_opaque: 'SIGNED' });

    const router = await findFollowing([{ reasoning_details: details, tool_calls: [call] }], gemini, gemini);
    expect(router.reply).toMatchObject({ reasoning_details: details });
  });

  it('goes back as details to a gateway of any name', async () => {
    const { reply } = await findFollowing([{ reasoning: 'Hm.', reasoning_details: details }, { tool_calls: [call] }]);

    expect(reply).toMatchObject({ reasoning: 'Hm.', reasoning_details: details });
  });

  it.each([
    ['at the function', inFunction],
    ['in the id', inId],
    ['of Copilot', { reasoning_opaque: 'SIGNED', tool_calls: [call] }],
    ['as details', { reasoning: 'Hm.', reasoning_details: details, tool_calls: [call] }],
  ])('goes to no other model: %s', async (_, delta) => {
    const { reply, result } = await findFollowing([delta], 'other/n');

    expect(JSON.stringify([reply, result])).not.toContain('SIGNED');
    expect(result?.['tool_call_id']).toBe((reply?.['tool_calls'] as { id: string }[])[0]?.id);
  });
});
