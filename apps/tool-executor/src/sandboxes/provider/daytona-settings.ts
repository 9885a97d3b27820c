import { z } from 'zod';
import { programPath } from './program-path';

const minutes = z.number().int().nonnegative();

/** How to reach Daytona, and what its sandboxes are made of. */
export const daytonaSettings = z.object({
  apiUrl: z.url(),
  apiKey: z.string().min(1),
  /** Region. */
  target: z.string().min(1).optional(),
  /** What sandboxes are created from: a snapshot, or an image with the given resources. Without either, Daytona's default. */
  snapshot: z.string().min(1).optional(),
  image: z.string().min(1).optional(),
  /** Chromium in the snapshot or image. Without it there is no browser in sandboxes. */
  browserPath: programPath.optional(),
  /** In processor cores and GiB. Daytona takes them with an image only. */
  resources: z
    .object({
      cpu: z.number().int().positive(),
      memory: z.number().int().positive(),
      disk: z.number().int().positive(),
    })
    .partial()
    .default({}),
  /** Daytona itself stops, archives and deletes an unused sandbox after so long, also when no executor is left to do so. */
  autoStopMinutes: minutes.default(15),
  autoArchiveMinutes: minutes.default(60),
  /** Daytona takes zero for `at once`, which would delete the files of every sandbox that goes to sleep. */
  autoDeleteMinutes: minutes.positive().default(7 * 24 * 60),
  /** Creating a sandbox or starting one, which may come from an archive. */
  startTimeoutMs: z.number().int().positive().default(180_000),
  /** One attempt. One that hangs leaves time for another, within the 30 s of a tool for files. */
  requestTimeoutMs: z.number().int().positive().default(20_000),
  /** All attempts of a request that may be repeated, while Daytona is away, overloaded or does not answer. */
  wholeRequestMs: z.number().int().positive().default(40_000),
});
export type DaytonaSettings = z.infer<typeof daytonaSettings>;
