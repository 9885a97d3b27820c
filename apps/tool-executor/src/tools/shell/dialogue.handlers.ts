import { toFailedResult } from '@rondo/contract';
import { SandboxError } from '../../sandboxes';
import { type ToolInput, type ToolHandler, toSuccess } from '../tool-handler';
import { resultOfJob } from './command-result';
import { jobEnded, waitMs, withSession } from './session-jobs';
import { keptBytes } from './shell.handlers';

const waitS = 30;

/** A job in the background whose input stays open, and which is watched for a while. */
export const shellExec: ToolHandler<ToolInput<'shell_exec'>> = {
  mutexKey: ({ session_id }) => `session ${session_id}`,
  handle: async ({ session_id: session, command, exec_dir }, context) => {
    const { sandbox, idempotencyKey: id, runId: run, timeoutMs, signal } = context;
    const where = exec_dir === undefined ? {} : { cwd: exec_dir };
    try {
      await sandbox.start({ id, run, command, session, keepBytes: keptBytes, openInput: true, ...where });
    } catch (error) {
      if (!(error instanceof SandboxError) || error.code !== 'session_busy') throw error;
      return toFailedResult(`Session ${session} still runs a command. Wait for it, end it, or use another session_id.`);
    }
    await jobEnded(sandbox, session, { withinMs: waitMs(waitS, timeoutMs), signal });
    return resultOfJob(await sandbox.read(session));
  },
};

export const shellWriteToProcess: ToolHandler<ToolInput<'shell_write_to_process'>> = {
  mutexKey: ({ session_id }) => `session input ${session_id}`,
  handle: ({ session_id, input, press_enter }, { sandbox }) =>
    withSession(sandbox, session_id, async () => {
      try {
        await sandbox.write(session_id, press_enter ? `${input}\n` : input);
      } catch (error) {
        if (error instanceof SandboxError && error.code === 'invalid_request') return toFailedResult(error.message);
        throw error;
      }
      return toSuccess(`Written to the input of session ${session_id}.`);
    }),
};
