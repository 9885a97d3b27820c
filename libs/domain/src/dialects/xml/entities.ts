const characters = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" } as const;

type Entity = keyof typeof characters;

/** Decodes the five predefined entities of XML; any other `&` stays as it is. */
export const decodeEntities = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: Entity) => characters[entity]);

/** An attribute with its quotes. */
export const writeAttribute = (name: string, value: string): string => `${name}="${encodeEntities(value)}"`;

/** Text that XML and HTML show as it is. In an attribute it stands between double quotes. */
export const encodeEntities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
