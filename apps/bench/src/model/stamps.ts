import { nowMs } from '../clock';

/** A token that says when it was sent. */
export const stamp = (): string => `@${nowMs().toFixed(2)} `;

/** When the stamped tokens in this text were sent; a token that is cut in two is not counted. */
export const sentMs = (text: string): number[] => [...text.matchAll(/@(\d+\.\d\d) /g)].map(([, time]) => Number(time));
