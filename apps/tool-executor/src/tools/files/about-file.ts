import { type ExecutorResult, toFailedResult } from '@rondo/contract';
import { type SandboxFiles, SandboxError, toShownPath } from '../../sandboxes';

/** Changes of one file run one after the other; otherwise one of two concurrent edits would be lost. */
export const toMutexKey = (path: string): string => `file ${toShownPath(path)}`;

export const readContent = async (files: SandboxFiles, path: string): Promise<Buffer> =>
  (await files.read(path)).content;

/** Turns refusals of the sandbox into results that name the file as the model does. A lost sandbox is not a refusal. */
export async function aboutFile(
  given: string,
  work: (path: string) => Promise<ExecutorResult>,
  whatHelps = 'Work on parts of it with a command, for example sed.',
): Promise<ExecutorResult> {
  const path = toShownPath(given);
  try {
    return await work(path);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    switch (error.code) {
      case 'not_found':
        return toFailedResult(`${path} does not exist.`);
      case 'already_exists':
        return toFailedResult(`${path} already exists. Change it with str_replace or full_file_rewrite.`);
      case 'not_a_file':
        return toFailedResult(`${path} is not a file.`);
      case 'not_a_directory':
        return toFailedResult(`${path} is not in a folder, or not a folder itself.`);
      case 'too_large':
        return toFailedResult(`${error.message} ${whatHelps}`);
      case 'invalid_path':
      case 'invalid_request':
      case 'session_busy':
      case 'not_listening':
      case 'unsupported':
      case 'failed':
        return toFailedResult(error.message);
      case 'unavailable':
      case 'lost':
        throw error;
    }
  }
}

export const toSize = (text: string): string => `${Buffer.byteLength(text)} bytes`;
