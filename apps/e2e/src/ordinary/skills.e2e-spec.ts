import type { Run, RunSettings, Skill } from '@rondo/contract';
import { type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { expectWholeLog } from '../log-expectations';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

const manifest = (more = '') => `---
name: csv-totals
description: Adds up a column of a CSV file.
---

Run scripts/total.sh FILE COLUMN.${more}
`;
const script = `#!/bin/sh\nawk -F, -v c="$2" 'NR > 1 { s += $c } END { print "total " s }' "$1"\n`;

describe('a skill', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = await newAccount(rondo);
  });

  async function upload(more = ''): Promise<Skill> {
    const form = new FormData();
    form.append('files', new Blob([manifest(more)]), 'SKILL.md');
    form.append('files', new Blob([script]), 'scripts/total.sh');
    form.set('executable', '["scripts/total.sh"]');
    const headers = { Authorization: `Bearer ${client.key}` };
    const response = await fetch(`${client.url}/v1/skills`, { method: 'POST', headers, body: form });
    expect(response.status).toBe(201);
    return (await response.json()) as Skill;
  }
  const readSettings = async (id: string) =>
    (await client.json<{ settings: RunSettings }>('GET', `/runs/${id}`)).settings.skills;

  it('is named in the prompt, read and run by the version that the run began with, also after its worker died', async () => {
    const first = await upload();
    const run = await client.createRun({
      ...scriptInput('a skill in two versions', [
        { calls: [call('read_file', { file_path: '/skills/csv-totals/SKILL.md' })] },
        { calls: [command('printf "n,v\\na,2\\nb,3\\n" > t.csv; /skills/csv-totals/scripts/total.sh t.csv 2')] },
        { text: 'word '.repeat(60), pace_ms: 40, chunk_chars: 5, calls: [command('cat /skills/csv-totals/SKILL.md')] },
        { calls: [command('echo x > /skills/csv-totals/SKILL.md; touch /skills/mine; rm -r /skills/csv-totals')] },
        { text: 'Done.' },
      ]),
      skills: [{ name: 'csv-totals' }],
    });
    await client.waitForEvent(run.id, 'message.delta');
    const second = await upload(' A newer text.');
    expect((await client.request('DELETE', `/skills/${first.id}`)).status).toBe(409);
    await rondo.services.get('agent-worker').kill();
    await rondo.services.get('agent-worker').start();

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const pinned = { id: first.id, name: 'csv-totals', version: 1, sha256: first.sha256 };
    expect([second.version, await readSettings(run.id)]).toMatchObject([2, [pinned]]);
    const outputs = JSON.stringify(await client.json('GET', `/runs/${run.id}/tool-calls`));
    expect(outputs).toContain('total 5');
    expect(outputs).toContain('Run scripts/total.sh FILE COLUMN.');
    expect(outputs).not.toContain('A newer text.');
    expect(outputs.match(/Read-only file system/g)?.length).toBeGreaterThanOrEqual(2);
    const requests = await rondo.findModelRequests('a skill in two versions');
    expect(requests.at(-1)?.body).toContain('- csv-totals: Adds up a column of a CSV file.');
    expectWholeLog(await client.facts(run.id));
    expect((await client.request('DELETE', `/skills/${first.id}`)).status).toBe(204);
  });

  it('of a stored agent is seen by the run that another run starts', async () => {
    const { sha256 } = await upload();
    const answer = scriptInput('a child', [
      { calls: [call('read_file', { file_path: '/skills/csv-totals/SKILL.md' })] },
      { text: 'Read.' },
    ]).input;
    const agent = (name: string, skills: readonly object[]) =>
      client.json('PUT', `/agents/by-name/${name}`, { definition: { model: 'demo/scripted', skills } });
    await agent('adder', [{ name: 'csv-totals' }]);
    await agent('misled', [{ name: 'csv-totals' }, { name: 'no-such' }]);
    const run = await client.createRun({
      ...scriptInput('a parent', [
        { calls: [call('run_agent', { agent: 'adder', input: answer })] },
        { calls: [call('run_agent', { agent: 'misled', input: answer })] },
        { text: 'Done.' },
      ]),
      tools: { run_agent: true },
    });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const { children = [] } = await client.json<Run>('GET', `/runs/${run.id}`);
    const child = children[0]?.id ?? '';
    expect(await readSettings(child)).toMatchObject([{ name: 'csv-totals', sha256 }]);
    expect(JSON.stringify(await client.toolOutputs(child))).toContain('Run scripts/total.sh FILE COLUMN.');
    const calls = JSON.stringify(await client.json('GET', `/runs/${run.id}/tool-calls`));
    expect(calls).toContain('skills that are not there: no-such');
  });

  it('that there is not, or that no tool of the run could read, is refused by its field', async () => {
    await upload();
    const order = async (body: object) => (await client.request('POST', '/runs', { input: 'Go.', ...body })).text;

    expect(await order({ skills: [{ name: 'no-such' }] })).toContain('there is no skill named');
    expect(await order({ skills: [{ name: 'csv-totals', version: 9 }] })).toContain('there is no version 9');
    expect(await order({ skills: [{ name: 'csv-totals' }], tools: [] })).toContain('needs a tool');
  });
});
