import { type ContentBlock, callId, toShownContent } from './index';

it('shows a content without what only its provider may read, and otherwise as it is', () => {
  const opaque = { maker: 'gemini/m', data: { signature: 'secret' } };
  const call = { type: 'tool_call' as const, tool_call_id: callId.parse('call_1'), name: 'read_file', arguments: {} };
  const text = { type: 'text' as const, text: 'Said.' };
  const content: ContentBlock[] = [{ type: 'reasoning', text: 'Hm.', opaque }, text, { ...call, opaque }];

  expect(toShownContent(content)).toStrictEqual([{ type: 'reasoning', text: 'Hm.' }, text, call]);
  expect(toShownContent([text])).toEqual([text]);
});
