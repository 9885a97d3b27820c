/**
 * `npm run --silent secrets-key` makes a SECRETS_KEY and the part of it that executors need. With SECRETS_KEY in the environment it
 * prints that part of it, and with `-- --rotate` a new key before it (docs/operations.md).
 */
import { randomBytes } from 'node:crypto';
import { secretsKeyFor } from './local/servers/secret-variables.mjs';

const newKey = () => randomBytes(32).toString('base64');
const present = process.env.SECRETS_KEY;
const isRotation = present && process.argv.includes('--rotate');
const keys = isRotation ? `${newKey()},${present}` : present || newKey();

process.stdout.write(`SECRETS_KEY=${keys}\nMCP_SECRETS_KEY=${secretsKeyFor('mcp', keys)}\n`);
