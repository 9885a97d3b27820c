import type { SettingsRequest } from '@rondo/contract';
import type { ModelFacts } from '../models/model-facts';
import { LedgeredTools, RunHarness, ScriptedModel, finished, inPieces, says } from '../testing';
import type { Turn } from '../testing/scripted-model';

const drafts = {
  native: '<function_calls><invoke name="list_files"></invoke></function_calls>',
  xml_invoke: '<function_calls>\n<invoke name="list_files">\n</invoke>\n</function_calls>',
  xml_tag: '<list-files/>',
  json: '{"tool_name": "list_files", "parameters": {}}',
};
const answers = {
  native: 'Nothing.',
  xml_invoke: 'Nothing.',
  xml_tag: 'Nothing.',
  json: '{"tool_name": "none", "response": "Nothing."}',
};
const dialects = ['native', 'xml_invoke', 'xml_tag', 'json'] as const;
const nothingIsKnown = { findFacts: (): ModelFacts | undefined => undefined };

async function readReply(turn: Turn, processor: SettingsRequest['processor']) {
  const tools = new LedgeredTools();
  const model = new ScriptedModel([turn, says('Nothing.')]);
  const harness = new RunHarness({ model, tools, settings: { processor }, extra: nothingIsKnown });
  await harness.activate();
  const reply = harness.log.flatMap((fact) =>
    fact.type === 'message.created' && fact.data.message.type === 'assistant' ? [fact.data.message] : [],
  )[0];
  const shown = (type: string) =>
    harness.deltas.flatMap((one) => (one.type === type && one.streamId === reply?.id ? [one.text] : [])).join('');
  return { harness, tools, reply, text: shown('message.delta'), reasoning: shown('reasoning.delta') };
}

describe.each(dialects)('a thought within the text of a reply in %s', (dialect) => {
  it.each([
    ['between marks', `<think>maybe ${drafts[dialect]}, no</think>\n${answers[dialect]}`],
    ['without its opening mark', `maybe ${drafts[dialect]}, no\n</think>\n\n${answers[dialect]}`],
  ])('runs nothing, is stored as reasoning and shown as it is stored: %s', async (_, written) => {
    for (const execute_on_stream of [false, true]) {
      const { tools, harness, reply, text, reasoning } = await readReply(says(written), { dialect, execute_on_stream });

      expect(tools.effects.size).toBe(0);
      expect(harness.types).not.toContain('tool.planned');
      expect(reply?.content).toEqual([
        { type: 'reasoning', text: `maybe ${drafts[dialect]}, no` },
        { type: 'text', text: 'Nothing.' },
      ]);
      expect({ text, reasoning }).toEqual({ text: 'Nothing.', reasoning: `maybe ${drafts[dialect]}, no` });
    }
  });

  it('runs nothing if the thought is never closed, and asks again', async () => {
    const { tools, harness } = await readReply(says(`<think>maybe ${drafts[dialect]}`), { dialect });

    expect(tools.effects.size).toBe(0);
    expect(harness.types).not.toContain('tool.planned');
  });
});

it('withdraws what it has shown when a closing mark makes it a thought', async () => {
  const { harness, reply } = await readReply(says('Hm, hm.\n</think>\nYes.'), { dialect: 'native' });

  const restarted = harness.log.find(({ type }) => type === 'iteration.restarted');
  const first = harness.deltas[0]?.streamId;
  expect(restarted?.data).toMatchObject({ message_id: reply?.id });
  expect(JSON.stringify(restarted?.data)).toContain(String(first));
});

it('keeps marks in the arguments of a call', async () => {
  const { harness } = await readReply(
    says('<create-file file_path="a.txt">\n<think>\nkept\n</think>\n</create-file>'),
    {
      dialect: 'xml_tag',
      execute_on_stream: true,
    },
  );

  expect(harness.log.find(({ type }) => type === 'tool.planned')?.data).toMatchObject({
    tool_call: { arguments: { file_contents: '<think>\nkept\n</think>' } },
  });
});

it('runs a native call beside a thought that is never closed', async () => {
  const turn: Turn = [
    { type: 'text', text: '<think>I list them' },
    { type: 'call_start', index: 0, name: 'list_files' },
    { type: 'call_arguments', index: 0, text: '{}' },
    finished('tool_calls'),
  ];
  const { tools, reply } = await readReply(turn, { dialect: 'native' });

  expect(tools.effects.size).toBe(1);
  expect(reply?.content[0]).toEqual({ type: 'reasoning', text: 'I list them' });
});

it('sends a call within the text early once the model has answered without a thought', async () => {
  const tools = new LedgeredTools();
  const model = new ScriptedModel([
    says(`One. ${drafts.xml_tag} Wait.`),
    says(`Again. ${drafts.xml_tag} Wait.`),
    says('Done.'),
  ]);
  const settings = { processor: { dialect: 'xml_tag', execute_on_stream: true } } as const;
  const harness = new RunHarness({ model: model, tools, settings, extra: nothingIsKnown });
  const effectsWhenWaiting: number[] = [];

  await harness.activate((step, position) => {
    if (position === 'after' && 'delta' in step && step.delta.text === 'W') effectsWhenWaiting.push(tools.effects.size);
  });

  expect(tools.effects.size).toBe(2);
  expect(effectsWhenWaiting).toEqual([0, 2]);
});

describe('a thought with which a model continues a reply that was cut off', () => {
  const whole = '<create-file file_path="a.txt">\none:\n  two\n</create-file>';
  const cutAt = (at: number, [before, after]: readonly [string, string]) =>
    inPieces(
      [{ type: 'text', text: before + whole.slice(0, at) }, finished('length')],
      says(after + whole.slice(at)),
      says('Done.'),
    );

  it.each([
    ['between marks', ['<think>I write it.</think>', '<think>\nI go on.\n</think>\n\n']],
    ['without its opening mark', ['I write it.</think>', 'I go on.\n</think>\n\n']],
  ] as const)('is no part of the call, wherever that was cut: %s', async (_, thoughts) => {
    for (const execute_on_stream of [false, true]) {
      for (let at = 3; at < whole.length; at += 3) {
        if (whole[at] === '\n') continue; // line breaks around a thought belong to neither
        const settings = { processor: { dialect: 'xml_tag', execute_on_stream } } as const;
        const harness = new RunHarness({ model: cutAt(at, thoughts), settings, extra: nothingIsKnown });

        await harness.activate();

        const planned = harness.log.find(({ type }) => type === 'tool.planned');
        expect(planned?.data).toMatchObject({
          tool_call: { arguments: { file_path: 'a.txt', file_contents: 'one:\n  two' } },
        });
      }
    }
  });

  it('is no part of the answer either', async () => {
    const model = inPieces(
      [{ type: 'text', text: 'Hm.</think>Once upon ' }, finished('length')],
      says('I go on.</think>a time.'),
    );
    const harness = new RunHarness({ model, extra: nothingIsKnown });

    await harness.activate();

    expect(harness.state.conversation.at(-1)?.content).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Once upon ' },
      { type: 'reasoning', text: 'I go on.' },
      { type: 'text', text: 'a time.' },
    ]);
  });

  it.each(['Second.', '<think>Indeed.</think>Second.'])('ends the one that was cut off: %s', async (rest) => {
    const model = inPieces([{ type: 'text', text: 'First.\n<think>I wonder' }, finished('length')], says(rest));
    const harness = new RunHarness({ model, extra: nothingIsKnown });

    await harness.activate();

    const blocks = harness.state.conversation.at(-1)?.content ?? [];
    expect(blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))).toEqual(['First.\n', 'Second.']);
    expect(blocks[1]).toEqual({ type: 'reasoning', text: 'I wonder' });
  });
});
