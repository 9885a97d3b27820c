import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReplyChunk } from '@rondo/domain';
import fc from 'fast-check';
import { AnthropicReply } from './anthropic/anthropic-reply';
import { OpenAiReply } from './openai/openai-reply';
import { SseReader } from './sse';
import { readAll } from './testing/read-model-reply';
import type { ReplyReader } from './wire-protocol';

const recorded = (name: string): Buffer => readFileSync(join(__dirname, '__fixtures__', `${name}.sse`));

const maker = 'anthropic/claude-opus-5';

const fixtures: [string, () => ReplyReader][] = [
  ['openai-parallel-calls', () => new OpenAiReply()],
  ['compatible-reasoning', () => new OpenAiReply()],
  ['compatible-whole-calls', () => new OpenAiReply()],
  ['anthropic-thinking-calls', () => new AnthropicReply({ maker })],
  ['anthropic-refusal', () => new AnthropicReply({ maker })],
];

/** The chunks with adjacent texts joined. */
function joined(chunks: readonly ReplyChunk[]): ReplyChunk[] {
  const whole: ReplyChunk[] = [];
  for (const chunk of chunks) {
    const last = whole.at(-1);
    if (last && 'text' in last && last.type === chunk.type && 'text' in chunk) {
      whole[whole.length - 1] = { ...last, text: last.text + chunk.text };
    } else whole.push(chunk);
  }
  return whole;
}

function readRecorded(name: string, reader: ReplyReader): ReplyChunk[] {
  return joined(readAll(reader, recorded(name).toString()));
}

describe('A recorded reply', () => {
  it('of OpenAI with text and parallel calls', () => {
    const reader = new OpenAiReply();

    expect(readRecorded('openai-parallel-calls', reader)).toEqual([
      { type: 'text', text: 'Let me look — ✓.' },
      { type: 'call_start', index: 0, name: 'list_files' },
      { type: 'call_arguments', index: 0, text: '{"path":"src"}' },
      { type: 'call_start', index: 1, name: 'read_file' },
      { type: 'call_arguments', index: 1, text: '{"path":"readme.md"}' },
    ]);
    expect(reader).toMatchObject({
      ending: { finishReason: 'tool_calls' },
      usage: { input: 412, cacheRead: 256, output: 47 },
      complete: true,
    });
  });

  it('of a compatible server with reasoning, which is kept apart from the content', () => {
    const reader = new OpenAiReply();

    expect(readRecorded('compatible-reasoning', reader)).toEqual([
      { type: 'reasoning', text: 'The user greets.' },
      { type: 'text', text: 'Hello!' },
    ]);
    expect(reader).toMatchObject({ ending: { finishReason: 'stop' }, usage: { input: 11, output: 9 } });
  });

  it('of a compatible server that sends whole calls, all with index 0 and the finish reason stop', () => {
    const reader = new OpenAiReply();

    expect(readRecorded('compatible-whole-calls', reader)).toEqual([
      { type: 'call_start', index: 0, name: 'list_files' },
      { type: 'call_arguments', index: 0, text: '{"path":"a"}' },
      { type: 'call_start', index: 1, name: 'list_files' },
      { type: 'call_arguments', index: 1, text: '{"path":"b"}' },
    ]);
    expect(reader.ending).toEqual({ finishReason: 'tool_calls', word: 'stop' });
  });

  it('of Anthropic with signed and redacted thinking, text and calls', () => {
    const reader = new AnthropicReply({ maker });

    expect(readRecorded('anthropic-thinking-calls', reader)).toEqual([
      { type: 'reasoning', text: 'I should list it.' },
      { type: 'reasoning_end', opaque: { maker, data: { signature: 'EqQBCkYIBx==' }, bound: true } },
      { type: 'reasoning_end', opaque: { maker, data: { data: 'EmwKAhgBEgy3va3pzix' }, bound: true } },
      { type: 'text', text: 'Looking ✓' },
      { type: 'call_start', index: 0, name: 'list_files' },
      { type: 'call_arguments', index: 0, text: '{"path": "src"}' },
      { type: 'call_start', index: 1, name: 'read_file' },
      { type: 'call_arguments', index: 1, text: '{"path":"a"}' },
    ]);
    expect(reader).toMatchObject({
      ending: { finishReason: 'tool_calls' },
      usage: { input: 96 + 1024 + 2048, cacheRead: 2048, cacheWrite: 1024, output: 89 },
      complete: true,
    });
  });

  it('of Anthropic that ends with a refusal', () => {
    const reader = new AnthropicReply({ maker });

    expect(readRecorded('anthropic-refusal', reader)).toEqual([{ type: 'text', text: 'I can' }]);
    const error = { code: 'content_policy_violation', message: 'The request could enable harm.', transient: false };
    expect(reader.ending).toMatchObject({ error });
  });

  it.each(fixtures)('is read alike for any split of its bytes: %s', (name, reader) => {
    const bytes = recorded(name);
    const expected = readAll(reader(), bytes.toString());
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const [sse, chunks, target] = [new SseReader(), [] as ReplyChunk[], reader()];
        places.slice(1).forEach((end, at) => {
          for (const { data } of sse.push(bytes.subarray(places[at], end))) target.read(data, chunks);
        });
        expect(chunks).toEqual(expected);
      }),
    );
  });

  it.each(fixtures)('has no ending when its stream is cut before it: %s', (name, reader) => {
    const text = recorded(name).toString();
    const listener = reader();
    readAll(listener, text.slice(0, text.search(/data: .*(?:"finish_reason":"|"stop_reason": ")/)));
    expect(listener.ending).toBeUndefined();
  });
});
