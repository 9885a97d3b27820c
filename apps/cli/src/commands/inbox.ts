import type { InboxItem } from '@rondo/client';
import type { Command } from '../command';
import { nextStep } from '../next-step';

const about = ({ waiting }: InboxItem): string =>
  waiting.question?.text ?? waiting.approvals?.map(({ name }) => name).join(', ') ?? '';

export const inbox: Command = {
  name: 'inbox',
  summary: 'List the runs that wait for a person, oldest first',
  async run(_, { rondo, terminal }) {
    for await (const item of rondo().approvals.inbox()) {
      if (terminal.isJson) terminal.json(item);
      else terminal.line(`${item.id}  ${item.waiting.reason}: ${about(item)}\n  → ${nextStep(item.id, item.waiting)}`);
    }
    return 'ok';
  },
};
