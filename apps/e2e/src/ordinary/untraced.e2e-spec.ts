import type { Run } from '@rondo/contract';
import { scriptInput } from '@rondo/test-deployment';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

describe('a deployment without a collector', () => {
  it('traces no run, and a traceparent changes nothing', async () => {
    const client = await newAccount(await ordinaryDeployment());
    const response = await fetch(`${client.url}/v1/runs`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${client.key}`,
        'Content-Type': 'application/json',
        traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
      },
      body: JSON.stringify(scriptInput('off', [{ text: 'Hi.' }])),
    });
    const { id, trace_id } = (await response.json()) as Run;

    expect(trace_id).toBeNull();
    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
  });
});
