import { writeFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { profileDirectory } from './config';

/** Loaded into a service before its own code: the first SIGUSR2 starts a CPU profile, the second writes it. */
const session = new Session();
let begun = false;

process.on('SIGUSR2', () => void (begun ? write() : begin()));

async function begin(): Promise<void> {
  begun = true;
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 500 });
  await session.post('Profiler.start');
}

async function write(): Promise<void> {
  begun = false;
  const { profile }: Profiler.StopReturnType = await session.post('Profiler.stop');
  session.disconnect();
  const service = /apps\/([^/]+)\//.exec(process.argv[1] ?? '')?.[1] ?? String(process.pid);
  writeFileSync(join(profileDirectory, `${service}.cpuprofile`), JSON.stringify(profile));
}
