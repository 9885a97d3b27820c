/** What a thread shows to people, and the token with which its executor lets a client connect to it. */
export interface PreviewAddress {
  readonly threadId: string;
  /** Of the sandbox. Absent: a static site, which the executor serves itself. */
  readonly port?: number;
  readonly token: string;
}

const label = /^(?:p([1-9][0-9]{0,4})|s)-([0-9a-z]{26})-([0-9a-z]{20})$/;

/**
 * The address as one label of a host name, so that each preview has an origin of its own: pages of agents are hostile. At most
 * 54 characters. Undefined for a thread whose id is no `thr_` with a ULID, since host names do not keep the case of others.
 */
export function previewLabel({ threadId, port, token }: PreviewAddress): string | undefined {
  const written = `${port === undefined ? 's' : `p${port}`}-${threadId.slice('thr_'.length).toLowerCase()}-${token}`;
  return readPreviewLabel(written)?.threadId === threadId ? written : undefined;
}

export function readPreviewLabel(text: string): PreviewAddress | undefined {
  const [, port, ulid, token] = label.exec(text.toLowerCase()) ?? [];
  if (ulid === undefined || token === undefined || Number(port) > 65_535) return undefined;
  return { threadId: `thr_${ulid.toUpperCase()}`, ...(port !== undefined && { port: Number(port) }), token };
}
