import { cpus, totalmem } from 'node:os';

/** A description of this machine for the report. */
export const machine =
  `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, ` +
  `${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
