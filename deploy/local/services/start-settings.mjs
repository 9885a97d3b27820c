import { readFileSync } from 'node:fs';
import * as util from 'node:util'; // an older Node, which is refused in words, has no parseEnv to import
import { choosePort, whyNotFree } from '../servers/free-port.mjs';

/** Reads the settings of a file that the environment has not. Windows' editors begin a file with a mark, which is no part of a name. */
export function loadSettings(file, environment = process.env) {
  const settings = util.parseEnv(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  for (const [name, value] of Object.entries(settings)) environment[name] ??= value;
}

/** Where the gateway shall listen. Says before anything is started which setting is wrong. */
export async function findGatewayAddress({ PORT: given = '', HOST: host = '' }) {
  const address = { port: toPort(given || '3000'), host: host || '127.0.0.1' };
  if (address.port === 0) return { ...address, port: await choosePort(undefined, address.host) };
  const code = await whyNotFree(address.port, address.host);
  if (code) throw new Error(explain(code, address));
  return address;
}

function toPort(text) {
  if (/^\d+$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error(`PORT must be a whole number up to 65535, not ${JSON.stringify(text)}.`);
}

function explain(code, { port, host }) {
  if (code === 'EADDRINUSE')
    return `Port ${port} is taken by another program. Choose another one: PORT=${another(port)} npm start`;
  if (code === 'EACCES') return `This user may not listen on port ${port}. Choose another one: PORT=3000 npm start`;
  return `HOST=${host} is no address of this machine (${code}).`;
}

const another = (port) => (port + 100 > 65_535 ? port - 100 : port + 100);
