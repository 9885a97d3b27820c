import { execFileSync } from 'node:child_process';

/**
 * For tests: writes ca.pem, the certificate of a private authority, into the directory, and of a server named localhost and of a client
 * server.pem, server.key, client.pem and client.key.
 *
 * @param {string} directory
 */
export function issueCertificates(directory) {
  const openssl = (...given) => execFileSync('openssl', given, { cwd: directory, stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const root = ['-keyout', 'ca.key', '-out', 'ca.pem', '-days', '3', '-subj', '/CN=Private authority'];
  openssl('req', '-x509', ...newKey, ...root);
  for (const [name, subject] of [
    ['server', 'localhost'],
    ['client', 'rondo'],
  ]) {
    const extension = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const files = ['-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${subject}`];
    openssl('req', ...newKey, ...files, ...extension);
    const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-copy_extensions', 'copy', '-days', '3'];
    openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signing);
  }
}
