import { text } from 'node:stream/consumers';
import { connect } from 'nats';
import { probes, splitNatsUrl, withoutPassword } from './probes.mjs';

/**
 * Tries the servers of DATABASE_URL, REDIS_URL and NATS_URL, which come as JSON over standard input: connects with their users and
 * passwords as the services do. Prints what came of each as JSON, as apps/tool-executor/src/check-settings.ts does.
 */
const { DATABASE_URL, REDIS_URL, NATS_URL } = JSON.parse(await text(process.stdin));
const checks = [
  ['Postgres', DATABASE_URL, probes.postgres],
  ['Redis', REDIS_URL, probes.redis],
  ['NATS', NATS_URL, logInToNats],
].filter(([, url]) => url);
process.stdout.write(JSON.stringify(await Promise.all(checks.map(check))), () => process.exit(0));

async function check([what, url, probe]) {
  try {
    await probe(url);
    return { what, works: true };
  } catch (error) {
    const reason = error.errors?.[0]?.message ?? error.message;
    return { what, works: false, reason: `nothing usable answers at ${withoutPassword(url)}: ${reason}` };
  }
}

/** Greets the server as a probe does, and logs in. */
async function logInToNats(url) {
  await probes.nats(url);
  const { files, ...login } = splitNatsUrl(url);
  const named = { caFile: files.get('sslrootcert'), certFile: files.get('sslcert'), keyFile: files.get('sslkey') };
  const tls = Object.fromEntries(Object.entries(named).filter(([, path]) => path !== null));
  const insists = login.servers[0].startsWith('tls:') || Object.keys(tls).length > 0;
  const connection = await connect({ ...login, ...(insists && { tls }), reconnect: false, timeout: 5_000 });
  await connection.close();
}
