/** A server in the sandbox whose tool reads a note of the workspace, and that has a prompt. What it says of the tool may be in the file `said`. */
const program = `
  const { existsSync, readFileSync } = require('node:fs');
  const description = existsSync('/workspace/said') ? readFileSync('/workspace/said', 'utf8') : 'Reads the note.';
  const tool = { name: 'read', description, inputSchema: { type: 'object', properties: {} } };
  const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, prompts: {} }, serverInfo: { name: 'n', version: '1' } }),
    'tools/list': () => ({ tools: [tool] }),
    'prompts/list': () => ({ prompts: [{ name: 'shorten', description: 'Shortens a note.', arguments: [{ name: 'note', required: true }] }] }),
    'prompts/get': ({ arguments: { note } }) => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Shorten the note ' + note + '.' } }] }),
    'tools/call': () => ({ content: [{ type: 'text', text: readFileSync('/workspace/note', 'utf8') }] }),
  };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }));
  });`;

/** As a run names it. */
export const notesServer = {
  ...{ name: 'notes', transport: 'stdio' as const },
  command: `echo ${Buffer.from(program).toString('base64')} | base64 -d > /tmp/notes.cjs && exec node /tmp/notes.cjs`,
};
