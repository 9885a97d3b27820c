import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface S3Account {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

/** Whether a request is signed by that account as Signature Version 4 says, its body included. */
export function isSigned(request: IncomingMessage, body: Buffer, { accessKeyId, secretAccessKey }: S3Account): boolean {
  const { authorization = '' } = request.headers;
  const [, id, day = '', region = '', headers = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
      authorization,
    ) ?? [];
  const bodyHash = valueOf(request, 'x-amz-content-sha256');
  if (id !== accessKeyId || bodyHash !== sha256(body)) return false;
  const scope = `${day}/${region}/s3/aws4_request`;
  const signed = headers.split(';').map((name) => `${name}:${valueOf(request, name).trim()}\n`);
  const canonical = [request.method, ...toTarget(request), signed.join(''), headers, bodyHash].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', valueOf(request, 'x-amz-date'), scope, sha256(canonical)].join('\n');
  const key = [region, 's3', 'aws4_request'].reduce<Buffer>(hmac, hmac(`AWS4${secretAccessKey}`, day));
  return signature === hmac(key, toSign).toString('hex');
}

const valueOf = (request: IncomingMessage, name: string): string => String(request.headers[name] ?? '');

function toTarget({ url = '' }: IncomingMessage): [string, string] {
  const { pathname, searchParams } = new URL(url, 'http://s3');
  const pairs = [...searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return [pathname, pairs.sort().join('&')];
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
