import { setTimeout as delay } from 'node:timers/promises';
import { type RondoClient, type RunView, type RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

interface ProjectView {
  readonly id: string;
  readonly name: string;
  readonly name_source: string;
}

describe('projects', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = await newAccount(rondo);
  });

  const newProject = (body: object = {}) => client.json<ProjectView>('POST', '/projects', body);
  const read = (id: string) => client.json<ProjectView>('GET', `/projects/${id}`);

  async function upload(name: string, content: string): Promise<string> {
    const form = new FormData();
    form.set('file', new Blob([content]), name);
    const headers = { Authorization: `Bearer ${client.key}` };
    const response = await fetch(`${client.url}/v1/files`, { method: 'POST', headers, body: form });
    return ((await response.json()) as { id: string }).id;
  }

  async function named(id: string, source: string): Promise<ProjectView> {
    for (;;) {
      const project = await read(id);
      if (project.name_source === source) return project;
      await delay(50);
    }
  }

  it('are named by their first input at once, and by a title of a model while the run goes on', async () => {
    const { id, name } = await newProject();
    expect(name).toBe('New project');

    const run = await client.createRun({
      model: 'demo/plain',
      input: 'Write a poem about autumn leaves.',
      project_id: id,
    });
    expect((await read(id)).name).toMatch(/^(Write a poem about autumn…|Title: )/);
    expect((await named(id, 'model')).name).toBe('Write a poem');
    expect((await client.waitForRun(run.id)).status).toBe('completed');
  });

  it('lose nothing but the title when the model that writes it fails', async () => {
    const { id } = await newProject();
    const run = await client.createRun({ model: 'demo/plain', input: 'error-500 please', project_id: id });
    expect((await client.waitForRun(run.id)).status).toBe('completed');
    expect((await read(id)).name_source).toMatch(/placeholder|model/);
  });

  it('have one workspace for all their threads where that was asked for', async () => {
    const { id } = await newProject({ name: 'Team', sandbox: 'project' });
    const readOutput = async (line: string, project: object) => {
      const turns = [{ calls: [command(line)] }, { text: 'Done.' }];
      const run = await client.createRun({ ...scriptInput(line, turns), ...project });
      expect((await client.waitForRun(run.id)).status).toBe('completed');
      return { run, output: (await client.toolOutputs(run.id)).join('') };
    };

    const file = await upload('data.txt', 'uploaded');
    const write = 'echo from another thread > note.txt';
    const { run: writer } = await readOutput(write, { project_id: id, files: [file] });
    const { run: reader, output } = await readOutput('cat note.txt data.txt', { project_id: id });
    expect(reader.thread_id).not.toBe(writer.thread_id);
    expect(output).toContain('from another thread\nuploaded');
    expect((await readOutput('ls', {})).output).not.toContain('note.txt');

    const sandbox = await client.json<{ id: string }>('GET', `/threads/${writer.thread_id}/sandbox`);
    await client.request('DELETE', `/threads/${writer.thread_id}`);
    const { output: still } = await readOutput('cat note.txt', { thread_id: reader.thread_id });
    expect(still).toContain('from another thread');

    await client.request('DELETE', `/projects/${id}`);
    expect((await client.request('GET', `/sandboxes/${sandbox.id}`)).status).toBe(404);
  });

  it('are deleted with the workspaces of their threads', async () => {
    const { id } = await newProject({ name: 'Short-lived' });
    const run: RunView = await client.createRun({
      ...scriptInput('write', [{ calls: [command('echo hello > left.txt')] }, { text: 'Done.' }]),
      project_id: id,
    });
    await client.waitForRun(run.id);

    await client.request('DELETE', `/projects/${id}`);
    for (const path of [`/projects/${id}`, `/runs/${run.id}`, `/threads/${run.thread_id}`])
      expect((await client.request('GET', path)).status).toBe(404);
  });
});
