import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { newHelmSecrets } from './local/servers/secret-variables.mjs';

/**
 * `npm run --silent helm-secrets > rondo.env` makes what the Secret of a Helm release holds (docs/kubernetes.md), with passwords of
 * `--executors` executors (4) of a release named `--release` (rondo). `--from rondo.env` keeps the values of that file, and adds
 * what it lacks.
 */
const options = { executors: { type: 'string' }, release: { type: 'string' }, from: { type: 'string' } };
const { values } = parseArgs({ options });
const executors = Number(values.executors ?? 4);
if (!Number.isInteger(executors) || executors < 0) throw new Error('--executors must be a whole number.');
const kept = values.from === undefined ? '' : readFileSync(values.from, 'utf8');

process.stdout.write(newHelmSecrets({ release: values.release, executors, kept }));
