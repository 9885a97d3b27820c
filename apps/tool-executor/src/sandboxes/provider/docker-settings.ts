import { z } from 'zod';
import { programPath } from './program-path';

/** Which engine runs the containers, and from what. */
export const dockerSettings = z.object({
  /** The engine's unix socket. Only the executor has access to it, never a sandbox. */
  socketPath: z.string().min(1).default('/var/run/docker.sock'),
  /** Needs bash and Node. The engine must have it already: it is never pulled here. */
  image: z.string().min(1).default('node:24-bookworm'),
  /** Chromium in the image. Without it there is no browser in sandboxes. */
  browserPath: programPath.optional(),
  /** An OCI runtime that the engine knows, for example `runsc`. */
  runtime: z.string().min(1).optional(),
});
export type DockerSettings = z.infer<typeof dockerSettings>;
