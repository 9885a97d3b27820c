import type { FileId, Message, NewMessage, RunId, Sha256 } from '@rondo/contract';
import {
  type ClaimedRun,
  type Model,
  type ModelChunk,
  type ModelMessage,
  type ModelRequest,
  filesIn,
  memoize,
  memoizeGrowingList,
  tokensPerPage,
  withDocuments,
} from '@rondo/domain';
import type { RunDocument, RunDocuments } from '@rondo/persistence';
import type { BlobReader } from '../images/image-cache';
import { countPages } from './count-pages';

export interface DocumentsInMessagesParts {
  readonly documents: Pick<RunDocuments, 'of'>;
  /** Reads the bytes of PDFs for a run. */
  readonly readerFor: (runId: RunId) => BlobReader;
  readonly readsDocuments: (model: string) => boolean;
  /** The most tokens that a request to the model may have. */
  readonly resolveBudget: (model: string) => number;
}

/** All PDFs of a request together may have this much, which the strictest providers accept; base64 adds a third to the bytes. */
const mostPages = 100;
const mostBytes = 16 * 1024 * 1024;
/** The share of a model's input that PDFs may have: the rest is for the conversation, which can be made shorter. */
const shareOfInput = 1 / 2;

/**
 * Shows the PDFs that came with messages to models that read them. Other models, and PDFs beyond the limits, keep what the message
 * says: the path in the workspace, where a tool reads the text. The newest PDFs count first.
 */
export class DocumentsInMessages {
  constructor(private readonly parts: DocumentsInMessagesParts) {}

  /** The claim with the PDFs that its messages show. */
  async showIn(claim: ClaimedRun): Promise<ClaimedRun> {
    const ids = messagesIn(claim).flatMap((message) => filesIn(message).map(({ file_id }) => file_id));
    const { model } = claim.run.settings;
    if (ids.length === 0 || !this.parts.readsDocuments(model)) return claim;

    const known = new Map((await this.parts.documents.of(claim.runId, ids)).map((one) => [one.id, one]));
    const newest = [...new Set(ids.reverse())].flatMap((id) => known.get(id) ?? []);
    const shown = await this.choose(newest, claim);
    return shown.size === 0 ? claim : withShown(claim, shown);
  }

  private async choose(newest: readonly RunDocument[], { runId, run }: ClaimedRun): Promise<Shown> {
    const budget = run.settings.context.input_budget_tokens ?? this.parts.resolveBudget(run.settings.model);
    let pagesLeft = Math.min(mostPages, Math.floor((budget * shareOfInput) / tokensPerPage));
    let bytesLeft = mostBytes;
    const shown = new Map<FileId, ShownPages>();
    const reader = this.parts.readerFor(runId);
    for (const { id, name, sha256, size } of newest) {
      if (size > bytesLeft) continue;
      const data = (await reader.read([sha256])).get(sha256);
      const pages = data === undefined ? undefined : countPages(Buffer.from(data, 'base64'));
      if (pages === undefined || pages > pagesLeft) continue;
      pagesLeft -= pages;
      bytesLeft -= size;
      shown.set(id, { name, sha256, pages });
    }
    return shown;
  }
}

type ShownPages = Pick<RunDocument, 'name' | 'sha256'> & { readonly pages: number };
type Shown = ReadonlyMap<FileId, ShownPages>;

const messagesIn = ({ earlier, log }: ClaimedRun): readonly (Message | NewMessage)[] => [
  ...earlier,
  ...log.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message] : [])),
];

/** A file that came twice is shown with the message that brought it first, so that caches of prompts hit. */
function withShown(claim: ClaimedRun, shown: Shown): ClaimedRun {
  const left = new Map(shown);
  const showing = <M extends Message | NewMessage>(message: M): M => {
    const found = filesIn(message).flatMap(({ file_id }) => left.get(file_id) ?? []);
    for (const { file_id } of filesIn(message)) left.delete(file_id);
    return withDocuments(message, found);
  };
  return {
    ...claim,
    earlier: claim.earlier.map(showing),
    log: claim.log.map((fact) =>
      fact.type === 'message.created' ? { ...fact, data: { message: showing(fact.data.message) } } : fact,
    ),
  };
}

/** A model that gets the bytes of the PDFs to which messages refer. What is not there any more stays a reference. */
export class DocumentsFromFiles implements Model {
  constructor(
    private readonly model: Model,
    private readonly files: BlobReader,
  ) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelChunk[]> {
    const hashes = hashesIn(request.messages);
    yield* this.model.stream(hashes.length === 0 ? request : await this.withBytes(request, hashes), signal);
  }

  private async withBytes(request: ModelRequest, hashes: readonly Sha256[]): Promise<ModelRequest> {
    const found = await this.files.read([...new Set(hashes)]);
    const messages = request.messages.map((message) =>
      message.role === 'user' && hashesOfMessage(message).length > 0 ? fill(message, found) : message,
    );
    return { ...request, messages };
  }
}

function fill(
  message: Extract<ModelMessage, { role: 'user' }>,
  found: ReadonlyMap<Sha256, string>,
): Extract<ModelMessage, { role: 'user' }> {
  const content = message.content.map((block) => {
    const data = block.type === 'document' ? found.get(block.sha256) : undefined;
    return data === undefined ? block : { ...block, data };
  });
  return { ...message, content };
}

const hashesOfMessage = memoize((message: ModelMessage): readonly Sha256[] =>
  message.role === 'user' ? message.content.flatMap((block) => (block.type === 'document' ? [block.sha256] : [])) : [],
);

const hashesIn = memoizeGrowingList<ModelMessage, readonly Sha256[]>((hashes = [], more) => [
  ...hashes,
  ...more.flatMap(hashesOfMessage),
]);
