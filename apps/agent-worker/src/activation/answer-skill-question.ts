import { type SkillAnswer, type SkillQuestion, skillPartBytes } from '@rondo/messaging';
import type { RunSkills } from '@rondo/persistence';

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
