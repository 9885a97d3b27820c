/**
 * For tests: writes ca.pem, the certificate of a private authority, into the directory, and of a server named localhost and of a client
 * server.pem, server.key, client.pem and client.key.
 */
export function issueCertificates(directory: string): void;
