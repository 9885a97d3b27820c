/** What a model is told where the bytes of an image were not found. */
export const lostImage = '(An image that is not kept any more.)';

/** What it is told instead of a URL that was not fetched. The URL itself never leaves: a provider must not fetch it. */
export const unloadedImage = '(An image that was not loaded.)';

/** A model may have called a tool by a name that no provider accepts when it is sent back. */
export const wireToolName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
