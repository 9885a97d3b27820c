import { type ExecutorResult, failedResult } from '@rondo/contract';
import { type SandboxFiles, SandboxError, shownPath } from '../../sandboxes';

/** Changes of one file run one after the other; otherwise one of two concurrent edits would be lost. */
export const toMutexKey = (path: string): string => `file ${shownPath(path)}`;

export const readContent = async (files: SandboxFiles, path: string): Promise<Buffer> =>
  (await files.read(path)).content;

/** Turns refusals of the sandbox into results that name the file as the model does. A lost sandbox is not a refusal. */
export async function aboutFile(
  given: string,
  work: (path: string) => Promise<ExecutorResult>,
  whatHelps = 'Work on parts of it with a command, for example sed.',
): Promise<ExecutorResult> {
  const path = shownPath(given);
  try {
    return await work(path);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    switch (error.code) {
      case 'not_found':
        return failedResult(`${path} does not exist.`);
      case 'already_exists':
        return failedResult(`${path} already exists. Change it with str_replace or full_file_rewrite.`);
      case 'not_a_file':
        return failedResult(`${path} is not a file.`);
      case 'not_a_directory':
        return failedResult(`${path} is not in a folder, or not a folder itself.`);
      case 'too_large':
        return failedResult(`${error.message} ${whatHelps}`);
      case 'invalid_path':
      case 'invalid_request':
      case 'session_busy':
      case 'not_listening':
      case 'unsupported':
      case 'failed':
        return failedResult(error.message);
      case 'unavailable':
      case 'lost':
        throw error;
    }
  }
}

export const toSize = (text: string): string => `${Buffer.byteLength(text)} bytes`;
