import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { findProgram, toProgramEnvironment } from '../config';
import type { Settings } from './env-file';

/** What came of one request: to a service of tools, a place for sandboxes, a server. */
export interface CheckedService {
  readonly what: string;
  readonly works: boolean;
  readonly reason?: string;
}

/** The programs that send the requests of the services. */
const checkers = ['apps/tool-executor/dist/check-settings.js', 'deploy/local/servers/check-servers.mjs'];

/** Tries what the settings name, by the requests that the services themselves send. Undefined where these programs are not built. */
export async function checkServices(settings: Settings): Promise<readonly CheckedService[] | undefined> {
  const files = checkers.flatMap((file) => findProgram(file) ?? []);
  if (files.length < checkers.length) return undefined;
  const checked = await Promise.all(files.map((file) => runChecker(file, settings)));
  return checked.flat();
}

async function runChecker(file: string, settings: Settings): Promise<readonly CheckedService[]> {
  const child = spawn(process.execPath, [file], {
    env: toProgramEnvironment(settings),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.end(JSON.stringify(settings));
  const printed = await text(child.stdout);
  try {
    return JSON.parse(printed) as CheckedService[]; // both programs print this
  } catch {
    return [{ what: 'settings', works: false, reason: `${file} could not try them.` }];
  }
}
