const schemes: readonly string[] = ['http:', 'https:', 'mailto:'];

/** The address if it leads to a page or a mailbox. Everything else, `javascript:` first, is no link. */
export function safeLink(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return schemes.includes(protocol) ? href : undefined;
}
