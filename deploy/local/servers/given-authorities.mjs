import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';

/** The authorities of NODE_EXTRA_CA_CERTS beside the usual ones, also where it is in `.env`, which was read after Node had looked for it. */
export function readGivenAuthorities() {
  const file = process.env.NODE_EXTRA_CA_CERTS;
  if (!file) return undefined;
  const usual = tls.getCACertificates?.('default') ?? tls.rootCertificates; // the first is newer than Node 20
  return [...usual, readFileSync(file, 'utf8')];
}
