/** Images that every provider takes. */
const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

export const isShowable = (mediaType: string): boolean => imageTypes.has(mediaType);

export const unshowable = (mediaType: string): string => `(An image of type ${mediaType}, which cannot be shown.)`;

/** A model may have called a tool by a name that no provider accepts when it is sent back. */
export const wireToolName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
