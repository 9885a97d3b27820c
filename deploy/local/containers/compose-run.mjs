/** `node compose-run.mjs URL [THREAD]`, with RONDO_API_KEY: for npm run compose, which starts it in the network of its engine. */
import { runProgram, toApi } from '../services/demo-runs.mjs';

const [url, thread] = process.argv.slice(2);
console.log(JSON.stringify(await runProgram(toApi(url, process.env.RONDO_API_KEY), thread)));
