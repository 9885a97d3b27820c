/**
 * A server over standard streams as a command of a sandbox, where no packages are installed: the protocol by hand, as far as a
 * client uses it. It also prints what is no message.
 */
const program = `
const tool = { name: 'echo', description: 'Repeats a text.', inputSchema:
  { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'stdio', version: '1' } }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text: 'echo: ' + text }] }),
};
console.log('a banner that is no message');
console.error('a warning');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }));
});
`;

export const stdioServer = `echo ${Buffer.from(program).toString('base64')} | base64 -d > /tmp/server.cjs && exec node /tmp/server.cjs`;
