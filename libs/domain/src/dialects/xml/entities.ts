const characters = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" } as const;

type Entity = keyof typeof characters;

/** The five entities that XML knows by itself; any other `&` stands for itself. */
export const decodeEntities = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: Entity) => characters[entity]);

/** An attribute with its quotes. */
export const writeAttribute = (name: string, value: string): string => `${name}="${encodeEntities(value)}"`;

const encodeEntities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
