import {
  type ModelRequest,
  type ProfileRules,
  type ProviderSettings,
  type ShownDocument,
  splitModelName,
} from '@rondo/domain';
import type { ProviderError } from '../provider-error';
import { lostDocument, unreadDocument } from '../wire-protocol';
import { type EffortRules, learnEfforts } from './refused-efforts';
import { type PartRules, learnImages, learnReasoning } from './refused-parts';
import { type ToolRules, learnTools } from './refused-tools';
import { findProfile } from './find-profile';
import type { ProviderProfile } from './provider-profile';

/** How a server takes conversations: as its profile says, and as its refusals have taught this process. */
export interface ConversationRules
  extends
    Pick<ProfileRules, 'noUserAfterTool' | 'textOnly' | 'documents' | 'reasoning'>,
    ToolRules,
    PartRules,
    EffortRules {
  /** The template of the model knows no system prompt: it stands before the first words of the user. */
  readonly noSystem?: boolean;
  /** The hashes of PDFs that it refused: some are encrypted, too long, or of no kind that it knows. */
  readonly refusedDocuments?: ReadonlySet<string>;
}

/** Rules that a server is known to have once it has refused a request with such words. */
const lessons = [
  { rule: 'noUserAfterTool', words: /role '?"?user'?"? after role '?"?tool/i },
  {
    rule: 'textOnly',
    words:
      /unknown variant [`'"]?image_url|(?:not|n't) support (?:image|vision|multi-?modal)|images? (?:inputs? )?(?:is|are) not supported|that support image/i,
  },
] as const;

export type LearnedRule = (typeof lessons)[number]['rule'];

/** The rule that the words of a refusal teach about the server, whatever was asked. */
export const readLearnedRule = (message: string): LearnedRule | undefined =>
  lessons.find(({ words }) => words.test(message))?.rule;

const aboutSystem = /system role (?:is )?not supported|developer instruction is not enabled/i;

/** The server of a model does not take back the field in which it sends its reasoning, or in which the maker wants it. */
const aboutEcho =
  /messages.*\breasoning(?:_content|_details|_text)?\b.*(?:unsupported|not permitted|not allowed|unexpected|unknown)|(?:not allowed|unknown|unrecognized).*\breasoning_(?:content|details|text)\b/is;

/** DeepSeek and Kimi want it with every call, whatever a gateway calls them. */
const demandsEcho = /\breasoning_content\b.*(?:must be passed back|is missing)/is;

const aboutDocuments = /\b(?:pdf|document|file|input_file)s?\b/i;

/** The rules with what a refusal of this request teaches; undefined where it teaches nothing. */
export function learnRules<Rules extends ConversationRules>(
  rules: Rules,
  request: ModelRequest,
  { code, message }: ProviderError,
): Rules | undefined {
  const lesson = lessons.find(({ rule, words }) => words.test(message) && !rules[rule]);
  if (lesson) return { ...rules, [lesson.rule]: true };
  if (aboutSystem.test(message) && !rules.noSystem) return { ...rules, noSystem: true };
  if (code === 'not_found') return learnReasoning(rules, request, message); // items have ids
  const isRequest = code === 'invalid_request' || code === 'model_not_supported';
  if (!isRequest && code !== 'api_error') return undefined;
  if (isRequest && rules.reasoning !== 'always' && demandsEcho.test(message)) return { ...rules, reasoning: 'always' };
  if (isRequest && rules.reasoning !== 'none' && aboutEcho.test(message)) return { ...rules, reasoning: 'none' };
  const learned = learnReasoning(rules, request, message) ?? learnTools(rules, request.tools, message);
  if (learned || !isRequest) return learned;
  return (
    learnEfforts(rules, message) ?? learnImages(rules, request, message) ?? learnDocuments(rules, request, message)
  );
}

function learnDocuments<Rules extends ConversationRules>(
  rules: Rules,
  { messages }: ModelRequest,
  message: string,
): Rules | undefined {
  if (!aboutDocuments.test(message)) return undefined;
  const shown = messages
    .flatMap((one) => (one.role === 'user' ? one.content : []))
    .flatMap((block) =>
      block.type === 'document' && typeof toDocument(block, rules) !== 'string' ? [block.sha256] : [],
    );
  if (shown.length === 0) return undefined;
  return { ...rules, refusedDocuments: new Set([...(rules.refusedDocuments ?? []), ...shown]) };
}

/** A PDF that is sent, or the words in its place. */
export function toDocument(
  { name, sha256, data }: ShownDocument,
  { documents = 'none', textOnly, refusedDocuments }: ConversationRules,
): { readonly form: 'file' | 'image'; readonly name: string; readonly data: string } | string {
  if (textOnly || documents === 'none' || refusedDocuments?.has(sha256)) return unreadDocument(name);
  return data === undefined ? lostDocument(name) : { form: documents, name, data };
}

/** Claude reads PDFs since its third generation; imitations of its API do not say whether they do. */
const claude = /(?:^|[./])claude-(?!2|instant)/i;
/** The models of OpenAI that see images read PDFs, too. */
const gpt = /^(?:(?:chat)?gpt-(?:4o|4\.|[5-9])|o[1-9])/;

/** Whether a PDF may stand as a block in Anthropic's API: OpenRouter reads it itself for models that do not. */
const readsBlocks = ({ family }: ProviderProfile, id: string): boolean => claude.test(id) || family === 'openrouter';

/** The profile of a model (`provider/model`), with the way in which it takes PDFs. */
export function findRules(provider: ProviderSettings, model: string): ProviderProfile & ConversationRules {
  const profile = findProfile(provider, model);
  const { id } = splitModelName(model);
  if (provider.profile?.rules.documents !== undefined) return profile;
  if (provider.kind !== 'openai' && provider.kind !== 'azure')
    return { ...profile, documents: readsBlocks(profile, id) ? ('file' as const) : ('none' as const) };
  return profile.family === 'openai' && !gpt.test(id) ? { ...profile, documents: 'none' as const } : profile;
}

/** Whether a model (`provider/model`) of these providers is shown PDFs. */
export const readsDocuments =
  (providers: readonly ProviderSettings[]) =>
  (model: string): boolean => {
    const provider = providers.find(({ name }) => name === splitModelName(model).provider);
    if (!provider) return false;
    const { documents = 'none', textOnly = false } = findRules(provider, model);
    return documents !== 'none' && !textOnly;
  };
