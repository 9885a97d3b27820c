import type { Experiment } from '../experiment';
import { effects } from './effects';
import { failover } from './failover';
import { freeze } from './freeze';
import { halfOpen } from './half-open';
import { kills } from './kills';
import { mixed } from './mixed';
import { nats } from './nats';
import { neighbour } from './neighbour';
import { points } from './points';
import { postgres } from './postgres';
import { redis } from './redis';
import { rolling } from './rolling';
import { stop } from './stop';
import { upgrade } from './upgrade';

export const experiments: readonly Experiment[] = [
  kills,
  points,
  stop,
  nats,
  freeze,
  redis,
  postgres,
  rolling,
  effects,
  halfOpen,
  mixed,
  neighbour,
  upgrade,
  failover,
];
