import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, readPidFile, removePidFile, writePidFile } from './process-identity.mjs';

const isRoot = process.getuid?.() === 0;
const leftoverGraceMs = 10_000;

/**
 * Claims a data directory for this process and stops what an earlier owner left running when it was killed.
 * Rejects while another owner is alive.
 */
export async function claimDataDirectory(dataDir) {
  const runDirectory = privateDirectory(join(dataDir, 'run'));
  chmodSync(dataDir, 0o711); // other users (the database's, for example) may enter directories below, but not list this one
  const ownerFile = join(runDirectory, 'owner.json');
  const owner = readPidFile(ownerFile);
  if (owner?.pid === process.pid) return;
  if (owner) throw new Error(`${dataDir} is in use by process ${owner.pid}, which is still running; stop it first.`);
  writePidFile(ownerFile, process.pid);
  await stopLeftovers(runDirectory);
}

export function releaseDataDirectory(dataDir) {
  removePidFile(join(dataDir, 'run', 'owner.json'));
}

/** Services are stopped before the servers that they use. */
async function stopLeftovers(runDirectory) {
  const files = readdirSync(runDirectory).filter((file) => file.endsWith('.pid'));
  const leftovers = files.map((file) => readPidFile(join(runDirectory, file))).filter(Boolean);
  await Promise.all(leftovers.filter(({ kind }) => kind === 'service').map(stopLeftover));
  await Promise.all(leftovers.filter(({ kind }) => kind !== 'service').map(stopLeftover));
  for (const file of files) removePidFile(join(runDirectory, file));
}

async function stopLeftover(leftover) {
  process.kill(leftover.pid, leftover.stopSignal);
  const deadline = performance.now() + leftoverGraceMs;
  while (isAlive(leftover) && performance.now() < deadline) await delay(20);
  if (isAlive(leftover)) process.kill(leftover.pid, 'SIGKILL');
  while (isAlive(leftover)) await delay(20);
}

/** A directory that only its owner may enter. New parent directories may be passed through by other users, who need files in them. */
export function privateDirectory(directory) {
  mkdirSync(dirname(directory), { recursive: true, mode: 0o711 });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** A file that only its owner may read, even if an earlier version wrote it with wider rights. */
export function writePrivate(file, content) {
  rmSync(file, { force: true });
  writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
}

/**
 * A directory that unprivileged users (the database's, a sandbox's) can reach: below the data directory, or below
 * /var/tmp if this process is root and they cannot pass through the data directory's parents.
 */
export function reachableDirectory(dataDir, name) {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  const directory = join(isRoot && !everyoneMayPass(dataDir) ? publicDirectory(dataDir) : dataDir, name);
  mkdirSync(directory, { recursive: true });
  if (isRoot) chmodSync(directory, 0o711);
  return directory;
}

/** Removes everything but the claim. */
export function emptyDataDirectory(dataDir) {
  const contents = readdirSync(dataDir).filter((name) => name !== 'run');
  for (const name of contents) rmSync(join(dataDir, name), { recursive: true });
  rmSync(toPublicDirectory(dataDir), { recursive: true, force: true });
}

function everyoneMayPass(directory) {
  const mayPass = (statSync(directory).mode & 0o001) !== 0;
  return mayPass && (directory === dirname(directory) || everyoneMayPass(dirname(directory)));
}

function publicDirectory(dataDir) {
  const directory = toPublicDirectory(dataDir);
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  const { uid } = lstatSync(directory);
  if (uid !== 0 || !lstatSync(directory).isDirectory())
    throw new Error(`${directory} belongs to another user; remove it.`);
  return directory;
}

function toPublicDirectory(dataDir) {
  return `/var/tmp/rondo-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`;
}
