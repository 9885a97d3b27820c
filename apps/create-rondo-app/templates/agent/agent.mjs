import { Rondo } from '@rondo/client';
import { createInterface } from 'node:readline';
import { tools } from './tools.mjs';

const { RONDO_URL: baseUrl = 'http://localhost:3000', RONDO_API_KEY: apiKey, RONDO_MODEL: model } = process.env;
const input = process.argv.slice(2).join(' ');
if (!apiKey || input === '') {
  console.error('Usage: RONDO_API_KEY=… npm start -- "Where is order 17?"');
  process.exit(2);
}

const rondo = new Rondo({ baseUrl, apiKey });

/** A line of the person; an empty one where the input has ended. */
function ask(question) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    terminal.once('close', () => resolve(''));
    terminal.question(question, (line) => {
      resolve(line);
      terminal.close();
    });
  });
}

/** Asks the person what the run waits for. */
async function onWaiting({ id, waiting }) {
  for (const { approval_id } of waiting?.approvals ?? []) {
    const { name, arguments: given, arguments_hash } = await rondo.approvals.get(approval_id);
    const answer = await ask(`\nMay it call ${name} ${JSON.stringify(given)}? [y/N] `);
    await rondo.approvals.decide(approval_id, { decision: /^y/i.test(answer) ? 'approve' : 'deny', arguments_hash });
  }
  if (waiting?.reason === 'ask')
    await rondo.runs.answer(id, await ask(`\n${waiting.question?.text ?? 'It asks you.'}\n> `));
}

function onEvent({ type, data }) {
  if (type === 'message.delta') process.stderr.write(data.text);
  if (type === 'tool.planned') console.error(`\n[${data.tool_call.name} ${JSON.stringify(data.tool_call.arguments)}]`);
}

try {
  const { result } = await rondo.runs.run({ ...(model && { model }), input, tools }, { onEvent, onWaiting });
  console.error();
  console.log(result.response);
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
