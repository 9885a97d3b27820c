import type { Command } from '../command';
import { isComplete, receiptLines } from '../show-run';

export const stop: Command = {
  name: 'stop',
  summary: 'Stop runs, wait until everything has ended, and print the receipts',
  args: [{ name: 'RUN', repeatable: true }],
  options: [
    { name: 'reason', value: 'TEXT', help: 'kept with the run' },
    { name: 'error', value: 'TEXT', help: 'what went wrong: the runs end as failed' },
  ],
  details: 'Succeeds only if everything that ran was seen dead. A run that had ended before has no receipt.',
  async run(given, { rondo, terminal }) {
    const [reason, error] = [given.value('reason'), given.value('error')];
    const words = { ...(reason !== undefined && { reason }), ...(error !== undefined && { error }) };
    const stopped = await Promise.all(given.args.map((id) => rondo().runs.stop(id, words)));
    for (const { run, receipt } of stopped) {
      if (terminal.isJson) terminal.json({ run_id: run.id, status: run.status, receipt });
      else terminal.line([`${run.id} ${run.status}`, ...(receipt ? receiptLines(receipt) : [])].join('\n'));
    }
    return stopped.every(({ receipt }) => receipt === null || isComplete(receipt)) ? 'ok' : 'failed';
  },
};
