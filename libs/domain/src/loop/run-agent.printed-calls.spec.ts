import type { ModelFacts } from '../models/model-facts';
import { LedgeredTools, RunHarness, ScriptedModel, says } from '../testing';

const printed = '<tool_call>\n{"name": "list_files", "arguments": {"path": "."}}\n</tool_call>';

function startRun(model: ScriptedModel, facts: Partial<ModelFacts> = {}) {
  const tools = new LedgeredTools();
  const extra = { findFacts: (id: string): ModelFacts => ({ id, ...facts }) };
  return { tools, harness: new RunHarness({ model, tools, extra, settings: { processor: { dialect: 'native' } } }) };
}

const readTexts = (harness: RunHarness): string[] =>
  harness.log.flatMap((fact) =>
    fact.type === 'message.created' && fact.data.message.type === 'assistant'
      ? [fact.data.message.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')]
      : [],
  );

describe('a native model that prints its calls as text', () => {
  it('is understood where its facts say so, and what is shown is what is stored', async () => {
    const { tools, harness } = startRun(new ScriptedModel([says(`I look.\n${printed}`), says('Done.')]), {
      printed_calls: true,
    });

    await harness.activate();

    expect(tools.effects.size).toBe(1);
    expect(readTexts(harness)).toEqual(['I look.\n[tool_call]', 'Done.']);
    expect(harness.deltas.flatMap(({ type, text }) => (type === 'message.delta' ? [text] : [])).join('')).toBe(
      'I look.\nDone.',
    );
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('is never understood within a thought', async () => {
    const { tools, harness } = startRun(new ScriptedModel([says(`<think>${printed}</think>Done.`)]), {
      printed_calls: true,
    });

    await harness.activate();

    expect(tools.effects.size).toBe(0);
    expect(readTexts(harness)).toEqual(['[reasoning]Done.']);
  });

  it('is asked once more otherwise, and nothing of the first reply is stored', async () => {
    const model = new ScriptedModel([says(printed), says('All done.')]);
    const { tools, harness } = startRun(model);

    await harness.activate();

    expect(tools.effects.size).toBe(0);
    expect(readTexts(harness)).toEqual(['All done.']);
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('tool calls of the API');
  });

  it('fails with the dialect that would help if it does so again', async () => {
    const { tools, harness } = startRun(new ScriptedModel([says(printed), says(printed)]));

    await harness.activate();

    expect(tools.effects.size).toBe(0);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: 'printed_tool_call' } } });
    expect(JSON.stringify(harness.log.at(-1))).toContain('xml_invoke');
  });

  it.each([
    `It is written so: \`${printed}\`.`,
    `${printed}\nThis is how a call looks.`,
    printed.replace('list_files', 'x'),
  ])('may show a call that is none: %j', async (answer) => {
    const { harness } = startRun(new ScriptedModel([says(answer)]));

    await harness.activate();

    expect(readTexts(harness)).toEqual([answer]);
    expect(harness.store.status(harness.id)).toBe('completed');
  });
});
