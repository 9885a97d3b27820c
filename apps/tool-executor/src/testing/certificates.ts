import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate for these names, and the authority that signed it. */
export function certificateFor(...names: string[]): { ca: string; key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'rondo-tls-'));
  const openssl = (...options: string[]) => execFileSync('openssl', options, { cwd: directory, stdio: 'ignore' });
  const read = (file: string) => readFileSync(join(directory, file), 'utf8');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test CA');
    openssl('req', ...newKey, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', `/CN=${names[0] ?? ''}`);
    writeFileSync(join(directory, 'names'), `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}\n`);
    const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-days', '2'];
    openssl('x509', '-req', '-in', 'request.pem', '-out', 'cert.pem', ...signing);
    return { ca: read('ca.pem'), key: read('key.pem'), cert: read('cert.pem') };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
