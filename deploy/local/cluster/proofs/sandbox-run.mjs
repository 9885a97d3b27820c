/** A run of the demo model whose commands run in a sandbox of an executor's pod. */
export const sandboxRun = {
  name: 'sandbox',
  async prove({ client }) {
    const api = client();
    const created = await api.ask('POST', '/runs', { model: 'demo/coder', input: 'Write a small program and run it.' });
    const run = await api.settled(created.id);
    const { data: calls } = await api.ask('GET', `/runs/${run.id}/tool-calls`);
    const outputs = calls.map(({ result }) => result?.output ?? '');
    if (run.status !== 'completed' || !outputs.some((output) => output.includes('FizzBuzz')))
      throw new Error(`the run is ${run.status}; its tools said:\n${outputs.join('\n')}`);
    return `completed, ${calls.length} tool calls in a sandbox`;
  },
};
