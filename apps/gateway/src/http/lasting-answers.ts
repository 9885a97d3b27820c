import type { Response } from 'express';

const lasting = new WeakSet<Response>();

/** This answer lasts as long as what its client waits for, so its time says nothing about the gateway. */
export const noteLasting = (response: Response): void => void lasting.add(response);

export const isLasting = (response: Response): boolean => lasting.has(response);
