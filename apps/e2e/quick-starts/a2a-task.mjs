import { Role, taskStateToJSON } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';

const client = await new ClientFactory().createFromUrl(process.env.A2A_URL);
const withKey = { serviceParameters: { Authorization: `Bearer ${process.env.A2A_KEY}` } };
const message = {
  messageId: crypto.randomUUID(),
  role: Role.ROLE_USER,
  parts: [{ content: { $case: 'text', value: 'Count without an end.' } }],
};

let isCancelled = false;
let taskId;
for await (const { payload } of client.sendMessageStream({ message }, withKey)) {
  if (payload.$case === 'task') taskId = payload.value.id;
  if (payload.$case === 'statusUpdate') console.log(taskStateToJSON(payload.value.status.state));
  if (payload.$case !== 'artifactUpdate' || isCancelled) continue;
  isCancelled = true;
  const task = await client.cancelTask({ id: taskId }, withKey);
  console.log('cancelTask:', taskStateToJSON(task.status.state));
}
