import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RondoClient, type RunningRondo, call, scriptInput } from '@rondo/test-deployment';
import { hasJq, runDocumented } from '../documented-commands';
import { expectWholeLog } from '../log-expectations';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

const steps = [1, 2, 3, 4];

/** Each step has an effect that is counted and takes a while; a step whose outcome is not known is passed over. */
const sources = {
  python: `
from rondo_tools import tools, ToolError
for step in range(1, 5):
    try:
        tools.execute_command(command=f"echo {step} >> effects; sleep 0.3; echo did {step}", blocking=True)
        print(f"did {step}")
    except ToolError as error:
        print(f"lost {step}")
result = tools.execute_command(command="cat effects", blocking=True)`,
  node: `
for (const step of [1, 2, 3, 4]) {
  try {
    await tools.execute_command({ command: 'echo ' + step + ' >> effects; sleep 0.3; echo did ' + step, blocking: true });
    console.log('did ' + step);
  } catch (error) {
    console.log('lost ' + step);
  }
}
return tools.execute_command({ command: 'cat effects', blocking: true });`,
} as const;

describe('code mode', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = await newAccount(rondo);
  });

  const startRun = (language: keyof typeof sources, more: object = {}) =>
    client.createRun({
      ...scriptInput(`a program ${language}`, [
        { calls: [call('run_program', { language, source: sources[language] })] },
        { text: 'Done.' },
      ]),
      tools: { code: true, ...more },
    });

  const readOutcome = async (id: string) => {
    const facts = await client.facts(id);
    expectWholeLog(facts);
    const output = facts.flatMap(({ type, data }) =>
      type === 'tool.completed' && data.name === 'run_program' ? [(data.result as { output: string }).output] : [],
    );
    expect(output).toHaveLength(1);
    const lines = (output[0] ?? '').trim().split('\n');
    return { facts, said: lines.filter((line) => / /.test(line)), effects: lines.filter((line) => /^\d$/.test(line)) };
  };

  /** The start of a program, and of each call that it makes, and of the program again. */
  const startOfStep = (step: number): number => 2 * step;

  it.each(['python', 'node'] as const)(
    'makes the calls of a program in %s, which the list of calls shows below it',
    async (language) => {
      const run = await startRun(language);

      expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });

      const { said, effects } = await readOutcome(run.id);
      expect(said).toEqual(steps.map((step) => `did ${step}`));
      expect(effects).toEqual(steps.map(String));
      const { data: calls } = await client.json<{
        data: { id: string; name: string; program?: { call_id: string; position: number } }[];
      }>('GET', `/runs/${run.id}/tool-calls`);
      expect(calls.map(({ name, program }) => [name, program?.call_id, program?.position])).toEqual([
        ['run_program', undefined, undefined],
        ...[...steps, 5].map((step) => ['execute_command', calls[0]?.id, step - 1]),
      ]);
    },
  );

  it.each(steps)(
    'goes on after a kill -9 of the worker during call %i of a program, with no effect twice (I2, I5)',
    async (step) => {
      const run = await startRun('python');
      await client.waitForEvent(run.id, 'tool.started', startOfStep(step));
      await rondo.services.get('agent-worker').kill();

      expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });

      const { facts, said, effects } = await readOutcome(run.id);
      expect(said).toEqual(steps.map((one) => `did ${one}`));
      expect(effects).toEqual(steps.map(String));
      expect(facts.map(({ type }) => type)).not.toContain('tool.unknown');
    },
  );

  it.each(steps)(
    'goes on after a kill -9 of the executor during call %i of a program, with no effect twice (I5)',
    async (step) => {
      const run = await startRun(step % 2 === 0 ? 'node' : 'python');
      await client.waitForEvent(run.id, 'tool.started', startOfStep(step));
      await rondo.services.get('tool-executor').kill();

      expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });

      const { said, effects } = await readOutcome(run.id);
      expect(said).toEqual(steps.map((one) => expect.stringMatching(`^(did|lost) ${one}$`) as unknown));
      expect(effects).toEqual([...new Set(effects)]);
      const done = said.flatMap((line) => (line.startsWith('did') ? [line.slice(-1)] : []));
      expect(effects).toEqual(expect.arrayContaining(done));
      expect(done.length).toBeGreaterThanOrEqual(steps.length - 1);
    },
  );

  it('waits for the approval of a call without holding anything, also while its executor dies', async () => {
    const run = await startRun('node', { execute_command: { require_approval: true, only: true } });
    for (const step of [...steps, 5]) {
      await client.waitForEvent(run.id, 'approval.requested', step);
      if (step === 2) await rondo.services.get('tool-executor').kill();
      await client.waitForEvent(run.id, 'run.waiting', step);
      const { data: open } = await client.json<{ data: { id: string; run_id: string; arguments_hash: string }[] }>(
        'GET',
        '/approvals',
      );
      const { id, arguments_hash } = open.find(({ run_id }) => run_id === run.id) ?? { id: '' };
      await client.json('POST', `/approvals/${id}/decision`, { decision: 'approve', arguments_hash });
    }

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const { said, effects } = await readOutcome(run.id);
    expect(said).toEqual(steps.map((one) => `did ${one}`));
    expect(effects).toEqual(steps.map(String));
  });

  (hasJq ? it : it.skip)('is shown by the commands of its page', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'rondo-documented-'));
    mkdirSync(join(cwd, '.data'));
    writeFileSync(join(cwd, '.data/api-key'), client.key);

    const printed = await runDocumented('programs', { url: client.url, cwd, env: {} });

    expect(printed).toMatch(/completed.*"run_program",null,"\{\\"bytes\\":6\}".*"execute_command",2/s);
    rmSync(cwd, { recursive: true });
  });
});
