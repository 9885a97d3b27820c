import type { RequestHandler } from 'express';
import { hasBody } from '../door/body';
import { requireKey } from './api-key.guard';
import type { KeyRing } from './key-ring';

/** To read a body is work, which is done for whoever has a key. What the key allows is the guard's to say. */
export const keyBeforeBody =
  (keys: KeyRing): RequestHandler =>
  (request, _, next) => {
    if (hasBody(request)) requireKey(keys, request).then(() => next(), next);
    else next();
  };
