import type { ModelRequest } from '../models/model';
import { LedgeredTools, RunHarness, ScriptedModel, SimulatedProgram, calls, says } from '../testing';

const issues = 12;
const text = (issue: number): string =>
  `Issue ${issue}. `.padEnd(2_000, 'It fails when the name of a file has a space in it. ');

const tools = Array.from({ length: 60 }, (_, at) => ({
  name: `tracker_action_${at}`,
  description: `Does action ${at} on an issue of the tracker and returns the issue as it is afterwards. Fails if there is no such issue.`,
  parameters: {
    type: 'object' as const,
    properties: {
      issue: { type: 'integer', description: 'The number of the issue, as the list of issues has it.' },
      fields: {
        type: 'array',
        items: { type: 'string' },
        description: 'The fields to return; all of them if left out.',
      },
      comment: { type: 'string', description: 'What to write below the issue.' },
    },
    required: ['issue'],
  },
  effect_class: 'pure' as const,
}));
const readIssue = (issue: number) => ({ name: 'tracker_action_7', arguments: { issue } });

const program = `let open = 0;
for (let issue = 1; issue <= 12; issue++) if (/fails/.test(await tools.tracker_action_7({ issue }))) open++;
return open;`;

/** As many as tokenizers count, about. */
const countTokens = ({ system, messages, tools: shown }: ModelRequest): number =>
  JSON.stringify([system, messages, shown]).length / 4;

async function measure(isCode: boolean): Promise<number> {
  const simulated = new SimulatedProgram(Array.from({ length: issues }, (_, at) => [readIssue(at + 1)]));
  const ledgered = new LedgeredTools((call) => simulated.run(call));
  const turns = isCode
    ? [calls({ name: 'run_program', arguments: { language: 'node', source: program } })]
    : Array.from({ length: issues }, (_, at) => calls(readIssue(at + 1)));
  const model = new ScriptedModel([...turns, says('Twelve.')]);
  const harness = new RunHarness({
    model,
    tools: ledgered,
    settings: { tools: { code: isCode }, caller_tools: tools },
  });
  while (await harness.activate()) {
    const known = [...harness.state.calls.values()].map(({ call }) => call);
    const answer = { how: 'answered', durationMs: 1, answeredBy: 'key_1' } as const;
    const outcomes = known.map(
      ({ id }, at) => [id, { ...answer, result: { success: true, output: text(at) } }] as const,
    );
    harness.store.answerAsCaller(harness.id, new Map(outcomes));
  }
  expect(harness.store.status(harness.id)).toBe('completed');
  return model.requests.reduce((sum, request) => sum + countTokens(request), 0);
}

describe('a task of twelve calls with sixty tools', () => {
  it('takes less than a tenth of the tokens in code mode', async () => {
    const [plain, code] = [await measure(false), await measure(true)];

    expect(code / plain).toBeLessThan(0.1);
  });
});
