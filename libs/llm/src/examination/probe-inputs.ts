import { createHash } from 'node:crypto';
import { type ReasoningEffort, type RunError, type Sha256, reasoningEffort, sha256 as toSha256 } from '@rondo/contract';
import { type ModelMessage, findFacts } from '@rondo/domain';
import type { Examiner, ModelFinding, Question } from './examiner';
import { shorten, userTurn } from './probe-replies';

/** Red, 32 by 32 pixels: some providers refuse smaller ones. */
const redSquare =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC';

/** Whether it sees images, or else runs without them. */
export async function probeImage(examiner: Examiner): Promise<ModelFinding[]> {
  const name = 'images';
  if (examiner.profile.textOnly)
    return [{ name, status: 'lacks', found: 'not sent to models of this name: a note stands in their place' }];
  examiner.begin(name);
  const source = { type: 'base64', media_type: 'image/png', data: redSquare } as const;
  const question = { type: 'text', text: 'Which colour is this image? Answer with one word.' } as const;
  const messages: ModelMessage[] = [{ role: 'user', content: [{ type: 'image', source }, question] }];
  const ask = () => examiner.ask({ messages });
  const answer = await ask();
  const without = { name, status: 'adapted', found: 'refused: a note stands in their place' } as const;
  if (answer.learned.includes('textOnly')) return [without];
  if (!answer.error)
    return /red/i.test(answer.text)
      ? [{ name, status: 'works', found: 'it sees them' }]
      : [
          {
            name,
            status: 'unknown',
            found: `accepted; asked for the colour of red, it said “${shorten(answer.text)}”`,
          },
        ];
  if (await examiner.findRules([{ textOnly: true }], ask)) return [without];
  return [{ name, status: 'broken', found: `refused: ${shorten(answer.error.message)}` }];
}

const word = 'lantern';

/** A PDF of one page with one word. Readers find its objects without a table of their places. */
const page = [
  '%PDF-1.4',
  '1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj',
  '2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj',
  '3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>>>>>> endobj',
  `4 0 obj <</Length ${`BT /F1 24 Tf 20 40 Td (${word}) Tj ET`.length}>> stream\nBT /F1 24 Tf 20 40 Td (${word}) Tj ET\nendstream endobj`,
  '5 0 obj <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>> endobj',
  'trailer <</Root 1 0 R>>',
  '%%EOF',
].join('\n');

const pageHash: Sha256 = toSha256.parse(createHash('sha256').update(page).digest('hex'));

/** Whether it reads PDFs, and in which form it takes them. */
export async function probeDocument(examiner: Examiner): Promise<ModelFinding[]> {
  const name = 'PDFs';
  const { textOnly, documents = 'none' } = examiner.profile;
  if (textOnly)
    return [{ name, status: 'lacks', found: 'not sent: a note stands in their place, and tools read them' }];
  examiner.begin(name);
  const document = {
    type: 'document',
    name: 'word.pdf',
    sha256: pageHash,
    pages: 1,
    data: Buffer.from(page).toString('base64'),
  } as const;
  const question = { type: 'text', text: 'Which word is in this document? Answer with that word.' } as const;
  const messages: ModelMessage[] = [{ role: 'user', content: [document, question] }];
  if (documents !== 'none') return [await judgeDocument(examiner, { messages })];
  for (const form of examiner.hasProfile ? (['file', 'image'] as const) : (['file'] as const)) {
    const { error, text, refusals } = await examiner.askUnder({ documents: form }, { messages });
    if (error || refusals.length > 0 || !text.toLowerCase().includes(word)) continue;
    examiner.change({ documents: form });
    return [{ name, status: 'adapted', found: `it reads them (\`"documents": "${form}"\`)` }];
  }
  const { whyNoDocuments = 'not read' } = examiner.profile;
  return [{ name, status: 'lacks', found: `${whyNoDocuments}: tools read them` }];
}

/** Judges whether a model to which PDFs are sent reads them. */
async function judgeDocument(examiner: Examiner, question: Question): Promise<ModelFinding> {
  const name = 'PDFs';
  const { error, text, refusals } = await examiner.ask(question);
  const [refused = error] = refusals;
  if (refused) {
    examiner.change({ documents: 'none' });
    return { name, status: 'adapted', found: `refused, so tools read them (${shorten(refused.message)})` };
  }
  return text.toLowerCase().includes(word)
    ? { name, status: 'works', found: 'it reads them' }
    : { name, status: 'unknown', found: `accepted; asked for the word in one, it said “${shorten(text)}”` };
}

/** Which efforts it accepts, each asked of a model that has learned nothing. */
export async function probeEfforts(examiner: Examiner): Promise<ModelFinding[]> {
  const name = 'efforts';
  examiner.begin(name);
  const wanted = examiner.hasProfile ? reasoningEffort.options : (['low', 'high'] as const);
  const accepted: ReasoningEffort[] = [];
  let reason: string | undefined;
  for (const effort of wanted) {
    const rules = examiner.hasProfile ? { efforts: [effort] } : {};
    const settings = { reasoning_effort: effort, ...(!examiner.hasProfile && { enable_thinking: true }) };
    const answer = await examiner.askUnder(rules, { messages: [userTurn('Answer with the word ok.')], settings });
    const refused = answer.error ?? answer.refusals[0];
    if (refused) reason ??= shorten(refused.message);
    else if (answer.notes.effort === effort) accepted.push(effort);
  }
  return [judgeEfforts(examiner, { accepted, reason })];
}

interface TriedEfforts {
  readonly accepted: readonly ReasoningEffort[];
  /** The first refusal. */
  readonly reason: string | undefined;
}

function judgeEfforts(examiner: Examiner, { accepted, reason }: TriedEfforts): ModelFinding {
  const name = 'efforts';
  if (accepted.length === 0)
    return reason === undefined
      ? { name, status: 'lacks', found: 'not sent, because models of this name have none' }
      : { name, status: 'lacks', found: `refused, so runs go without (${reason})` };
  const { efforts = reasoningEffort.options } = examiner.profile;
  const missing = efforts.filter((one) => !accepted.includes(one));
  if (!examiner.hasProfile || missing.length === 0)
    return { name, status: 'works', found: `${accepted.join(', ')} are accepted` };
  examiner.change({ efforts: accepted });
  return { name, status: 'adapted', found: `${accepted.join(', ')}; the nearest stands for ${missing.join(', ')}` };
}

const usualWindow = 1_000_000;

/**
 * Whether its words for “too long” are known. What is sent is a quarter longer than the declared window, so that a server that
 * means it reads none of it.
 */
export async function probeTooLong(examiner: Examiner): Promise<ModelFinding[]> {
  const name = 'too long';
  const facts = findFacts(examiner.provider, examiner.id);
  if (facts?.context_window === undefined)
    return [
      {
        ...{ name, status: 'unknown', found: 'not tried: the context window is not declared' },
        advice: `Declare it: {"id": ${JSON.stringify(examiner.id)}, "context_window": …} among the models of its provider.`,
      },
    ];
  if (facts.context_window > usualWindow * 2)
    return [{ name, status: 'unknown', found: `not tried: ${facts.context_window} tokens are more than two million` }];
  examiner.begin(name);
  const count = Math.ceil(facts.context_window * 1.25);
  const messages = [userTurn('word '.repeat(count))];
  const { error } = await examiner.ask({ messages, settings: { max_tokens: 16 } });
  if (!error)
    return [
      {
        ...{
          name,
          status: 'lacks',
          found: `${count} words were accepted: it cuts what is too long, or has a larger window`,
        },
        advice: 'Declare a context_window that the server really has; runs keep below it.',
      },
    ];
  return [judgeRefusedLength(examiner, error)];
}

/** Unknown words are declared. A failure that says nothing about the request, such as one of the network, has none. */
function judgeRefusedLength(examiner: Examiner, { code, message }: RunError): ModelFinding {
  const name = 'too long';
  const reason = shorten(message);
  if (code === 'context_window_exceeded') return { name, status: 'works', found: `its words are known: “${reason}”` };
  const words = toDeclaredWords(message);
  if (code !== 'invalid_request' || words.length < leastWords)
    return {
      name,
      status: 'unknown',
      found: `refused with ${code} (“${reason}”), which says nothing: near the window, runs are shortened all the same`,
    };
  examiner.change({ tooLong: [...(examiner.profile.tooLong ?? []), words] });
  return { name, status: 'adapted', found: `its words were not known (“${reason}”)` };
}

const leastWords = 8;
const mostWords = 160;

/** The beginning of the sentence, up to a whole word. Which numbers it has does not matter. */
function toDeclaredWords(message: string): string {
  const text = message.replaceAll(/\s+/g, ' ').trim();
  return text.length <= mostWords ? text : text.slice(0, mostWords).replace(/\s\S*$/, '');
}
