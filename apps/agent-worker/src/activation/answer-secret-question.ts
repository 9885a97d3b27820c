import type { RecordedFact } from '@rondo/contract';
import type { SecretAnswer, SecretQuestion } from '@rondo/messaging';
import type { SecretOpenings } from '@rondo/persistence';

interface SecretAnswerParts {
  readonly openings: Pick<SecretOpenings, 'findGranted' | 'open' | 'note'>;
  readonly publish: (facts: readonly RecordedFact[]) => void;
}

/** Answers executors, which read no database. A sealed value leaves with a use that is recorded, or not at all. */
export async function answerSecretQuestion(
  { openings, publish }: SecretAnswerParts,
  question: SecretQuestion,
): Promise<SecretAnswer> {
  switch (question.ask) {
    case 'grants':
      return { how: 'granted', secrets: [...(await openings.findGranted(question.run_id))] };
    case 'open': {
      const { account_id: accountId, run_id: runId, call_id: callId, name, via, request } = question;
      const opened = await openings.open({ accountId, runId, callId, name, via, request });
      if (opened.how !== 'awaits') return opened;
      publish(opened.facts);
      return { how: 'awaits', approval_id: opened.approval_id };
    }
    case 'note':
      await openings.note(question.use_id, question.status);
      return { how: 'noted' };
  }
}
