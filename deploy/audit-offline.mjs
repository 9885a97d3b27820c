import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import semver from 'semver';
import { repoRoot } from './local/repo-root.mjs';

const usage = `npm run audit:offline -- PATH [--lock FILE]

Compares the packages of package-lock.json with the vulnerabilities of an OSV export (https://osv.dev), without a network. PATH is
a JSON file (one vulnerability, a list of them, or {"vulns": […]}) or a folder with such files, as npm's all.zip of OSV contains.
Prints each affected package and ends with 1 if there is one, with 0 if there is none, and with 2 if PATH cannot be read or holds none.`;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { lock: { type: 'string' } } });
try {
  process.exitCode = main(positionals, values.lock ?? join(repoRoot, 'package-lock.json'));
} catch (error) {
  process.exitCode = complain(String(error)); // never 1, which says that something is affected
}

function main([path], lock) {
  if (path === undefined) return complain(usage);
  const vulnerabilities = readVulnerabilities(path).filter(({ withdrawn }) => withdrawn === undefined);
  if (vulnerabilities.length === 0) return complain(`${path} holds no vulnerability in the format of OSV.`);

  const installed = readInstalled(lock);
  const findings = vulnerabilities.flatMap((vulnerability) => findAffected(vulnerability, installed));
  for (const line of [...new Set(findings)].sort()) console.log(line);
  console.log(`${installed.length} packages, ${vulnerabilities.length} vulnerabilities, ${findings.length} findings.`);
  return findings.length > 0 ? 1 : 0;
}

function complain(text) {
  console.error(text);
  return 2;
}

function readVulnerabilities(path) {
  if (statSync(path).isDirectory()) {
    const files = readdirSync(path, { recursive: true }).filter((file) => file.endsWith('.json'));
    return files.flatMap((file) => readVulnerabilities(join(path, file)));
  }
  const content = JSON.parse(readFileSync(path, 'utf8'));
  const given = Array.isArray(content) ? content : (content.vulns ?? [content]);
  return given.filter(({ id, affected }) => typeof id === 'string' && Array.isArray(affected));
}

/** Name, version and whether only development needs it, of all packages that come from a registry. */
function readInstalled(lock) {
  const modules = 'node_modules/';
  return Object.entries(JSON.parse(readFileSync(lock, 'utf8')).packages)
    .filter(([place, { link, version }]) => place.includes(modules) && !link && semver.valid(version))
    .map(([place, { name, version, dev = false }]) => ({
      name: name ?? place.slice(place.lastIndexOf(modules) + modules.length), // an alias has its own name in `name`
      version,
      dev,
    }));
}

/** A line for each installed package that the vulnerability affects. */
function findAffected({ id, affected, severity, database_specific: about }, installed) {
  return affected
    .filter((one) => one.package?.ecosystem === 'npm')
    .flatMap((one) => {
      const found = installed.filter(({ name, version }) => name === one.package.name && isAffected(version, one));
      const grade = about?.severity ?? one.ecosystem_specific?.severity ?? severity?.[0]?.score ?? 'unknown severity';
      const fixes = (one.ranges ?? []).flatMap(({ events = [] }) => events.flatMap(({ fixed }) => fixed ?? []));
      const advice = fixes.length > 0 ? `fixed in ${fixes.join(', ')}` : 'no fix is known';
      return found.map(({ name, version, dev }) =>
        [`${name}@${version}`, id, grade, advice, ...(dev ? ['only for development'] : [])].join('  '),
      );
    });
}

function isAffected(version, { versions = [], ranges = [] }) {
  const isInRange = ({ type, events = [] }) => ['SEMVER', 'ECOSYSTEM'].includes(type) && isWithin(version, events);
  return versions.includes(version) || ranges.some(isInRange);
}

/** As OSV evaluates a range: its events in the order of versions, up to this one. `0` is before every version. */
function isWithin(version, events) {
  const kinds = ['introduced', 'fixed', 'last_affected'];
  const steps = events
    .flatMap((event) => kinds.flatMap((kind) => (event[kind] === undefined ? [] : [{ kind, at: event[kind] }])))
    .map(({ kind, at }) => ({ kind, at: at === '0' ? '0.0.0-0' : at }))
    .filter(({ at }) => semver.valid(at))
    .sort((one, other) => semver.compare(one.at, other.at));
  return steps.reduce((isIn, { kind, at }) => {
    if (kind === 'last_affected') return semver.gt(version, at) ? false : isIn;
    return semver.gte(version, at) ? kind === 'introduced' : isIn;
  }, false);
}
