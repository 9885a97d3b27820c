import { z } from 'zod';
import { projectId } from './ids';

/** Who gave a project its name. A `placeholder` is replaced by the first input, and then by the title that a model writes. */
export const nameSource = z.enum(['placeholder', 'model', 'request']);
export type NameSource = z.infer<typeof nameSource>;

/** Whether each thread has a workspace of its own, or all of them share one. */
export const projectSandbox = z.enum(['thread', 'project']);

/** Threads that belong together. */
export const project = z.object({
  id: projectId,
  name: z.string(),
  name_source: nameSource,
  /** Its threads and runs can be read without a key. */
  is_public: z.boolean(),
  sandbox: projectSandbox,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Project = z.infer<typeof project>;
