import type { SecretAnswer, SecretQuestion } from '@rondo/messaging';
import type { SecretOpenings } from '@rondo/persistence';

/** Answers executors, which read no database. A sealed value leaves with a use that is recorded, or not at all. */
export async function answerSecretQuestion(
  openings: Pick<SecretOpenings, 'findGranted' | 'open' | 'note'>,
  question: SecretQuestion,
): Promise<SecretAnswer> {
  switch (question.ask) {
    case 'grants':
      return { how: 'granted', secrets: [...(await openings.findGranted(question.run_id))] };
    case 'open': {
      const { account_id: accountId, run_id: runId, call_id: callId, name, via, request } = question;
      return openings.open({ accountId, runId, callId, name, via, request });
    }
    case 'note':
      await openings.note(question.use_id, question.status);
      return { how: 'noted' };
  }
}
