import { readFileSync } from 'node:fs';

/** Why tools cannot run, and what to do about it, from the log of a ready tool-executor; undefined if they can run. */
export function sandboxProblem(logFile) {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  const line = lines.findLast((candidate) => candidate.includes('"sandboxes unavailable"'));
  if (!line) return undefined;
  const { reason, advice } = JSON.parse(line);
  return [`${reason.trim().replace(/\.$/, '')}.`, advice].join(' ').replace(/\s+/g, ' ').trim();
}
