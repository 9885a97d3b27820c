import type { Environment, WorkspacePrepared } from '@rondo/contract';
import { type Sandbox, SandboxError } from '../sandboxes';
import { type PreparingRun, cloneRepository } from './clone-repository';
import { findSkills } from './find-skills';

/**
 * Gives a workspace what the environment of a run names. Each part is there whole or not at all, and what is there is left as it
 * is: so it may be repeated after it broke off, and a later run of the workspace finds what the earlier one made of it.
 */
export async function prepareWorkspace(
  sandbox: Sandbox,
  { repository, files = [], size, image, packages }: Environment,
  run: PreparingRun,
): Promise<WorkspacePrepared> {
  const startedAt = performance.now();
  if (size || image !== undefined || packages) await sandbox.files.stat('.'); // it is made now: a run that cannot have it does not begin
  if (repository) run.report?.('repository');
  const placed = repository ? await cloneRepository(sandbox, repository, run) : null;
  if (files.length > 0) run.report?.('files');
  const written: WorkspacePrepared['files'] = [];
  for (const { path, content } of files) {
    run.signal.throwIfAborted();
    written.push({ path, is_new: await isWritten(sandbox, path, content) });
  }
  const skills = placed ? await findSkills(sandbox, placed.path) : [];
  const duration_ms = Math.round(performance.now() - startedAt);
  return { repository: placed, files: written, skills, duration_ms };
}

/** False where something has that path. */
async function isWritten({ files }: Sandbox, path: string, content: string): Promise<boolean> {
  try {
    await files.write(path, content, { mode: 'create' });
    return true;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    if (error.code === 'already_exists') return false;
    throw new SandboxError(error.code, `The file ${path} of the environment is not in the workspace: ${error.message}`);
  }
}
