/** The key of `Authorization: Bearer <key>`. */
export const bearerKey = (header: string | undefined): string | undefined => /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];

/** The password of `Authorization: Basic …` with the user `admin`: how a browser opens the queue board. */
export function adminPassword(header: string | undefined): string | undefined {
  const encoded = /^Basic +(\S+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  return /^admin:(.+)$/s.exec(Buffer.from(encoded, 'base64').toString())?.[1];
}
