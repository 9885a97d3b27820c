import { consoleLink, startDemoRuns, toApi } from './demo-runs.mjs';

/**
 * What `npm start` prints when everything is ready. The first time, demo runs are started before.
 *
 * @param {{ url: string, adminKey: string, dataDir: string, wantsDemoRuns: boolean, seconds: number }} started
 */
export async function welcome({ url, adminKey, dataDir, wantsDemoRuns, seconds }) {
  const api = toApi(url, adminKey);
  const look = async () => {
    if (wantsDemoRuns) await startDemoRuns({ api, dataDir });
    return { link: `${await consoleLink({ api, url })}   (signs one browser in, once)`, isRefused: false };
  };
  const { link, isRefused } = await look().catch(({ status }) => ({
    link: `${url}/console/`,
    isRefused: status === 401,
  }));
  return `
Rondo is ready after ${seconds.toFixed(1)} s. Ctrl-C stops it.

  Console  ${link}
  URL      ${url}   (API: ${url}/docs, queues: ${url}/admin/queues)
  API key  ${isRefused ? revoked : `${adminKey}   (kept in .data/api-key)\n${firstSteps({ url, adminKey })}`}
`;
}

const revoked =
  'the one in .data/api-key was revoked. Your other keys are valid; for a new one, delete that file and start again.';

const firstSteps = ({ url, adminKey }) => `
Try it in this folder:

  npx rondo run "Write a small program and run it."

or over REST:

  curl -s ${url}/v1/runs \\
    -H 'Authorization: Bearer ${adminKey}' -H 'Content-Type: application/json' \\
    -d '{"model": "demo/coder", "input": "Write a small program and run it."}'`;
