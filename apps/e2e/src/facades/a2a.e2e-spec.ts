import { randomUUID } from 'node:crypto';
import { type Task, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { call, command } from '@rondo/test-deployment';
import { Followed, connect, follow, model, say, textIn, textsIn, toMessage, toPart } from './a2a-client';
import { FacadeDeployment, about, long } from './facade-deployment';

const deployment = FacadeDeployment.forSuite();

/** Resolves to the task that is the answer. */
async function ask(client: Client, request: ReturnType<typeof say>): Promise<Task> {
  const answer = await client.sendMessage(request);
  if (!('artifacts' in answer)) throw new Error('the answer is no task');
  return answer;
}

describe('a client of A2A', () => {
  it('streams a tool of the deployment and the text after it, and goes on in the same context', async () => {
    const client = await connect(deployment.client);
    const contextId = `ours ${randomUUID()}`;
    const turns = [{ text: 'I look.', calls: [command('echo seen')] }, { text: 'I have seen it.' }];
    const followed = await new Followed().read(client.sendMessageStream(say(about('tool', turns), { contextId })));

    expect(followed.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect([...followed.artifacts.values()]).toEqual(['I look.', 'I have seen it.']);
    expect(followed.data.join()).toContain('seen');
    const task = await (await connect(deployment.other)).getTask({ tenant: '', id: followed.id });
    expect(textsIn(task)).toEqual(['I look.', 'I have seen it.']);
    const next = await ask(client, say(about('next', [{ text: 'Again.' }]), { contextId }));
    expect(next).toMatchObject({ contextId, status: { state: TaskState.TASK_STATE_COMPLETED } });
    const [first, second] = await Promise.all([task.id, next.id].map((id) => deployment.client.run(id)));
    expect(second?.thread_id).toBe(first?.thread_id);
  });

  it('answers a question at the other gateway once, and says nothing to a task that has ended', async () => {
    const client = await connect(deployment.client);
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    const asked = await ask(client, say(about('ask', turns)));
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(asked.status?.message && textIn(asked.status.message)).toBe('Which colour?');

    const answer = say('Blue.', { taskId: asked.id, contextId: asked.contextId });
    const done = await ask(await connect(deployment.other), answer);

    expect(done).toMatchObject({ id: asked.id, status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(textsIn(done)).toEqual(['It is blue.']);
    expect(await ask(client, answer)).toEqual(done);
    await expect(client.sendMessage(say('Red.', { taskId: asked.id }))).rejects.toThrow('run_not_waiting');
  });

  it('tells a task something while it works, and has what follows in the stream that it reads', async () => {
    const client = await connect(deployment.client);
    const followed = new Followed();
    const request = say(about('told', [{ text: long, pace_ms: 20 }]));
    await followed.read(client.sendMessageStream(request), async () => {
      const other = await connect(deployment.other);
      const told = await ask(other, say(about('in blue', [{ text: 'It is blue.' }]), { taskId: followed.id }));
      expect(told).toMatchObject({ id: followed.id, status: { state: TaskState.TASK_STATE_COMPLETED } });
    });
    expect([...followed.artifacts.values()]).toEqual([long, 'It is blue.']);
  });

  it('decides about a call that needs an approval', async () => {
    const definition = { model, tools: { execute_command: { require_approval: true } } };
    await deployment.client.json('PUT', '/agents/by-name/careful-a2a', { definition });
    const client = await connect(deployment.client, 'careful-a2a');
    const asked = await ask(client, say(about('approval', [{ calls: [command('echo approved')] }, { text: 'Done.' }])));
    const data = asked.status?.message?.parts.flatMap(({ content }) => (content?.$case === 'data' ? [content] : []));
    const { approval } = data?.[0]?.value as { approval: { approval_id: string } };

    const value = { approval_id: approval.approval_id, approved: true };
    const message = toMessage([toPart({ $case: 'data', value })], { taskId: asked.id });
    const done = await ask(client, { ...say(''), message });

    expect(textsIn(done)).toEqual(['Done.']);
    expect(await deployment.client.toolOutputs(done.id)).toEqual([expect.stringContaining('approved')]);
  });

  it('is told that a context is busy, and cancels its task once', async () => {
    const client = await connect(deployment.client);
    const contextId = `busy ${randomUUID()}`;
    const other = await connect(deployment.other);
    const followed = new Followed();
    const request = say(about('cancel', [{ text: long, pace_ms: 20 }]), { contextId });
    await followed.read(client.sendMessageStream(request), async () => {
      await expect(other.sendMessage(say('And this?', { contextId }))).rejects.toThrow('thread_busy');
      const canceled = await other.cancelTask({ tenant: '', id: followed.id, metadata: undefined });
      expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    });

    expect(followed.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect(await deployment.client.waitForRun(followed.id)).toMatchObject({ status: 'stopped' });
    await expect(other.cancelTask({ tenant: '', id: followed.id, metadata: undefined })).rejects.toThrow('has ended');
    await expect(new Followed().read(follow(client, followed.id))).rejects.toThrow('has ended');
  });

  it('has one task for a message, however often it is sent', async () => {
    const client = await connect(deployment.client);
    const request = say(about('twice', [{ text: 'Once.' }]));
    const [first, second] = [await ask(client, request), await ask(await connect(deployment.other), request)];
    expect(second).toEqual(first);
  });

  it('has the whole text once after a kill of the worker and then of the gateway', async () => {
    const client = await connect(deployment.client);
    const followed = new Followed();
    const request = say(about('killed', [{ text: long, pace_ms: 20 }]));
    let killing: Promise<void> | undefined;
    const kill = async () => {
      const restarted = deployment.other.waitForEvent(followed.id, 'iteration.restarted');
      await Promise.all([deployment.killWorkers(), restarted]);
      await deployment.killGateway();
    };
    await expect(followed.read(client.sendMessageStream(request), () => (killing = kill()))).rejects.toThrow();
    await killing;

    await followed.read(follow(await connect(deployment.other), followed.id));

    expect(followed).toMatchObject({ text: long, state: TaskState.TASK_STATE_COMPLETED });
    await deployment.client.waitForRun(followed.id); // the killed gateway is back
  });

  it('shows a run that was begun in the API', async () => {
    const { id } = await deployment.client.createRun({ input: about('elsewhere', [{ text: 'Hello.' }]), model });
    await deployment.client.waitForRun(id);
    const { thread_id } = await deployment.client.run(id);
    const task = await (await connect(deployment.other)).getTask({ tenant: '', id });
    expect(task).toMatchObject({ contextId: thread_id, metadata: { rondo: { run_id: id, thread_id } } });
    expect(textsIn(task)).toEqual(['Hello.']);
  });

  it('reads what is refused, and why', async () => {
    const client = await connect(deployment.client);
    const stranger = await connect({ url: deployment.client.url, key: 'rondo_wrong' });
    await expect(stranger.sendMessage(say('Hello?'))).rejects.toThrow('unauthorized');
    const tenant = await deployment.newTenant();
    const own = await ask(client, say(about('own', [{ text: 'Mine.' }])));
    await expect((await connect(tenant)).getTask({ tenant: '', id: own.id })).rejects.toThrow('run_not_found');
    await expect(client.sendMessage(say('Hello?', { referenceTaskIds: [own.id] }))).rejects.toThrow('referenceTaskIds');
    const list = { tenant: '', contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '' };
    await expect(client.listTasks({ ...list, statusTimestampAfter: undefined })).rejects.toThrow('/v1/runs');
    await expect((await connect(deployment.client, 'nothing')).sendMessage(say('Hello?'))).rejects.toThrow(
      'agent_not_found',
    );
    const card = await client.getAgentCard();
    expect(card.supportedInterfaces).toMatchObject([{ protocolVersion: '1.0', protocolBinding: 'JSONRPC' }]);
  });
});
