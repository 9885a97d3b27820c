import type { RecordedFact } from '@rondo/contract';
import {
  type SecretAnswer,
  type SecretQuestion,
  type SkillAnswer,
  type SkillQuestion,
  skillPartBytes,
} from '@rondo/messaging';
import type { SecretOpenings, RunSkills } from '@rondo/persistence';

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

/** Answers executors, which read no database: with what the run names, and nothing else of its account. */
export async function answerSkillQuestion(
  skills: Pick<RunSkills, 'listFiles' | 'readPart'>,
  question: SkillQuestion,
): Promise<SkillAnswer> {
  const named = { runId: question.run_id, skillId: question.skill_id, version: question.version };
  if (question.ask === 'files') {
    const files = await skills.listFiles(named);
    return files.length === 0 ? { how: 'unknown' } : { how: 'files', files: [...files] };
  }
  const { path, offset } = question;
  const bytes = await skills.readPart(named, { path, offset, bytes: skillPartBytes });
  return bytes ? { how: 'part', base64: bytes.toString('base64') } : { how: 'unknown' };
}
