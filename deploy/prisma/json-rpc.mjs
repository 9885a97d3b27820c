import { createInterface } from 'node:readline';
import { createDatabase } from './database-commands.mjs';

const renamed = { getDatabaseVersion: 'version' };
let lastPrintId = 0;

/**
 * Answers the CLI's requests one after another until stdin ends. A panic of the engine becomes an answer
 * too: when an engine dies without one, the CLI ends with exit code 0 as if all were well.
 */
export async function serveRequests({ url, engine }) {
  const panic = new Promise((_, reject) => process.once('uncaughtException', reject));
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line.trim() === '') continue;
    const request = JSON.parse(line);
    if (!request.method) continue; // the CLI's receipt for a `print`
    send({ id: request.id, ...(await outcome(Promise.race([handle(request, { url, engine }), panic]))) });
  }
}

async function handle({ method, params }, { url, engine }) {
  if (method === 'createDatabase') {
    await createDatabase(url);
    return { databaseName: new URL(url).pathname.slice(1) };
  }
  const result = await call(await engine, renamed[method] ?? method, params);
  if (method === 'diff' && typeof result.stdout === 'string') print(result.stdout);
  return result;
}

function call(engine, method, params) {
  if (typeof engine[method] !== 'function') throw new Error(`This schema engine does not know the method ${method}.`);
  return engine[method](params);
}

async function outcome(work) {
  try {
    return { result: (await work) ?? null };
  } catch (error) {
    const data = { is_panic: false, message: error.message ?? String(error), error_code: error.code, meta: error.meta };
    return { error: { code: 4466, message: 'An error happened. Check the data field for details.', data } };
  }
}

/** `diff` hands its text to the CLI as a request of its own, ahead of the result. */
function print(content) {
  send({ id: ++lastPrintId, method: 'print', params: { content } });
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
