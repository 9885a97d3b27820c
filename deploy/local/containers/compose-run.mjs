/** `node compose-run.mjs URL [THREAD]`, with RONDO_API_KEY: for npm run compose, which starts it in the network of its engine. */
import { runProgram, toApi } from '../services/demo-runs.mjs';

const [url, thread] = process.argv.slice(2);
const api = toApi(url, process.env.RONDO_API_KEY);
const ran = await runProgram(api, thread);

/** The files that a return to the end of the first iteration would change: its executor has kept them as they were then. */
const { data: facts } = await api('GET', `/v1/runs/${ran.id}/events?limit=1000`);
const { seq } = facts.find(({ type }) => type === 'iteration.completed');
const { files } = await api('GET', `/v1/runs/${ran.id}/rewind-preview?at_seq=${seq}`);
console.log(JSON.stringify({ ...ran, changed: files.changed.paths }));
