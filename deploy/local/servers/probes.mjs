import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { URLSearchParams } from 'node:url';
import { readGivenAuthorities } from './given-authorities.mjs';
import { isDatabaseMissing, withClient } from './postgres-client.mjs';

const answerWithinMs = 2_000;

/** Each probe resolves when the server at the URL answers in its own protocol. */
export const probes = { postgres: probePostgres, redis: probeRedis, nats: probeNats };

/** A missing database is not an error: the server has answered, and the migration creates the database. */
async function probePostgres(url) {
  await withClient(url, (client) => client.query('select 1')).catch((error) => {
    if (!isDatabaseMissing(error)) throw error;
  });
}

async function probeRedis(url) {
  if (/^rediss?\+sentinel:/.test(url)) return probeSentinels(url);
  const { protocol, username, password, searchParams } = new URL(url);
  const login = [username || 'default', password].map(decodeURIComponent);
  await converse(url, {
    connect: protocol === 'rediss:' ? secureConnect(searchParams) : connectTcp,
    defaultPort: 6379,
    say: [...(password ? [['AUTH', ...login]] : []), ['PING']].map(toRedisCommand).join(''),
    isAnswer: (heard) => heard.includes('+PONG\r\n'),
    isRefusal: (heard) => heard.startsWith('-'),
  });
}

/** Any one that answers, whether it wants a login or not. */
async function probeSentinels(url) {
  const { tls, hosts, query } = /^redis(?<tls>s?)\+sentinel:\/\/([^@/]*@)?(?<hosts>[^/?]+)[^?]*(\?(?<query>.*))?$/.exec(
    url,
  ).groups;
  const probe = (host) =>
    converse(`redis://${host}`, {
      connect: tls ? secureConnect(new URLSearchParams(query)) : connectTcp,
      defaultPort: 26_379,
      say: toRedisCommand(['PING']),
      isAnswer: (heard) => heard.includes('+PONG\r\n') || heard.startsWith('-NOAUTH'),
      isRefusal: (heard) => heard.startsWith('-'),
    });
  await Promise.any(hosts.split(',').map(probe));
}

/** With the lengths of its words, which may then have any characters. */
function toRedisCommand(words) {
  return [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ''].join('\r\n');
}

/** TLS with the files that the parameters of a URL name. */
function secureConnect(parameters) {
  const read = (name) => (parameters.has(name) ? readFileSync(parameters.get(name)) : undefined);
  const files = { ca: read('sslrootcert') ?? readGivenAuthorities(), cert: read('sslcert'), key: read('sslkey') };
  return (place) => connectTls({ ...place, ...files });
}

/** Of several hosts one is enough: services try them all. */
async function probeNats(url) {
  await Promise.any(splitNatsUrl(url).servers.map(probeNatsServer));
}

/** The parts of NATS_URL, which with several hosts is no URL for Node: `servers` are URLs without the login. */
export function splitNatsUrl(url) {
  const parts =
    /^(?<scheme>\w+:\/\/)((?<user>[^:@/]*)(:(?<password>[^@/]*))?@)?(?<hosts>[^/?]+)\/?(\?(?<query>.*))?$/.exec(url);
  if (!parts) throw new Error('NATS_URL is not of the form nats://name:password@host:port,host:port');
  const { scheme, user = '', password = '', hosts, query } = parts.groups;
  return {
    servers: hosts.split(',').map((host) => `${scheme}${host}`),
    ...(user && { user: decodeURIComponent(user), pass: decodeURIComponent(password) }),
    files: new URLSearchParams(query),
  };
}

async function probeNatsServer(url) {
  await converse(url, {
    connect: connectTcp,
    defaultPort: 4222,
    say: '',
    isAnswer: (heard) => heard.startsWith('INFO {'),
    isRefusal: () => false,
  });
}

async function converse(url, { connect, defaultPort, say, isAnswer, isRefusal }) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) });
  const silence = new Promise((_, reject) => socket.setTimeout(answerWithinMs, () => reject(new Error('no answer'))));
  const answer = (async () => {
    let heard = '';
    for await (const chunk of socket) {
      heard += chunk;
      if (isAnswer(heard)) return;
      if (isRefusal(heard)) break;
    }
    throw new Error(heard.trim() || 'it hung up');
  })();
  socket.write(say);
  await Promise.race([answer, silence]).finally(() => socket.destroy());
}

/** Waits for a server that the environment names; the error says which variable named it. */
export async function waitForGiven({ name, url, variable, timeoutMs = 15_000 }) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await probes[name](url);
    } catch (error) {
      if (performance.now() > deadline) {
        const reason = error.errors?.[0]?.message ?? error.message;
        throw new Error(`nothing usable answers at ${withoutPassword(url)} (from $${variable}): ${reason}`, {
          cause: error,
        });
      }
    }
    await delay(100);
  }
}

export function withoutPassword(url) {
  return url.replace(/:\/\/([^:/@]*):[^@]*@/, '://$1:***@');
}
