import fc from 'fast-check';
import { type Message, inputContent } from '@rondo/contract';
import { pairCalls } from './context/pair-calls';
import { dialectNamed } from './dialects/registry';
import { LedgeredTools, RunHarness, ScriptedModel, finished, says } from './testing';
import { toHistory } from './testing/histories';
import type { Turn } from './testing/scripted-model';
import { WholeCharacters, wellFormed } from './well-formed';

const half = '\ud83d';
const unit = fc.constantFrom('\ud83d', '\ude00', '😀', 'a', '\n', '"');
const broken = fc.array(unit).map((units) => units.join(''));

describe('text with half of a surrogate pair', () => {
  it('becomes well-formed at any depth, and other values stay the same objects', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(broken, broken)), (entries) => {
        const given = { list: [Object.fromEntries(entries), 1, null], text: 'fine' };
        const mended = wellFormed(given);

        expect(JSON.stringify(mended)).not.toMatch(/\\ud[89a-f]/);
        if (entries.flat().every((text) => text.isWellFormed())) expect(mended).toBe(given);
      }),
    );
  });

  it('keeps a character whose halves arrive in two pieces', () => {
    fc.assert(
      fc.property(broken, fc.integer({ min: 1, max: 4 }), (text, size) => {
        const characters = new WholeCharacters();
        const pieces = (text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).map((one) => characters.next('text', one));

        expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
        expect([...pieces, characters.end('text')].join('')).toBe(text.toWellFormed());
      }),
    );
  });

  it('is mended in an input', () => {
    expect(inputContent.parse(`a${half}b`)).toEqual([{ type: 'text', text: 'a\ufffdb' }]);
    expect(inputContent.parse([{ type: 'text', text: half }])).toEqual([{ type: 'text', text: '\ufffd' }]);
  });

  it('is mended in a request of a thread that has it already, in each dialect', () => {
    const [user, ...others] = toHistory([
      { kind: 'user', text: `a${half}b` },
      { kind: 'reply', text: `c${half}`, calls: 1, parts: false, thinks: true, output: `d${half}` },
    ]);
    const asked = JSON.parse(JSON.stringify([user, ...others]).replaceAll('"path":"', `"path":"\\ud83d`)) as Message[];

    expect(JSON.stringify(asked)).toMatch(/\\ud83d/);
    expect(JSON.stringify(pairCalls(asked))).not.toMatch(/\\ud83d/);
    const settings = { xml_adding_strategy: 'user_message', include_xml_examples: false, max_tool_calls: 0 } as const;
    for (const name of ['native', 'xml_invoke', 'xml_tag', 'json'] as const)
      expect(JSON.stringify(dialectNamed(name).encode(asked, [], settings))).not.toMatch(/\\ud83d/);
  });
});

const call: Turn = [
  { type: 'text', text: 'a\ud83d' },
  { type: 'text', text: '\ude00b\ud83d' },
  { type: 'reasoning', text: '\ud83d' },
  { type: 'call_start', index: 0, name: 'read_file' },
  { type: 'call_arguments', index: 0, text: '{"file_path":"\\ud83d.txt"}' },
  finished('tool_calls'),
];

it('is stored, shown and sent as U+FFFD by a run, whose split characters stay whole', async () => {
  const model = new ScriptedModel([call, says('Done.')]);
  const tools = new LedgeredTools();
  const harness = new RunHarness({ model, tools });

  await harness.activate();

  const log = JSON.stringify(harness.log);
  expect(log).not.toMatch(/\\ud[89a-f]/);
  const blocks = harness.state.conversation.flatMap(({ content }) => content);
  expect(blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')).toContain('a😀b\ufffd');
  expect(log).toContain('\ufffd.txt');
  expect(harness.deltas.flatMap(({ type, text }) => (type === 'message.delta' ? [text] : [])).join('')).toBe(
    'a😀b\ufffdDone.',
  );
  expect(harness.deltas.every(({ text }) => text.isWellFormed() || text.includes('\\ud83d'))).toBe(true);
  expect(JSON.stringify(model.requests)).not.toMatch(/\\ud[89a-f]/);
});
